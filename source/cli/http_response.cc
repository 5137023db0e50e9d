#include "source/cli/http_response.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/ascii.h"
#include "source/base/log.h"
#include "source/base/strings.h"

namespace forebay {
namespace {

absl::Status broken(std::string_view what, std::string_view text = "") {
  return absl::InvalidArgumentError(
      text.empty() ? cat("not an HTTP answer: ", what)
                   : cat("not an HTTP answer: ", what, " in \"", printable(text, 64), "\""));
}

bool parseNumber(std::string_view text, int base, size_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

std::string_view trim(std::string_view text) {
  return toStd(absl::StripAsciiWhitespace(toAbsl(text)));
}

}  // namespace

absl::Status HttpResponseReader::feed(std::string_view bytes) {
  buffer_.append(bytes);
  bool progressed = true;
  while (progressed && !done()) {
    progressed = false;
    if (const absl::Status status = step(progressed); !status.ok()) {
      return status;
    }
  }
  if (response_.body.size() > kBodyBytesMax) {
    return broken("more bytes than we take");
  }
  return absl::OkStatus();
}

absl::Status HttpResponseReader::finish() {
  if (state_ == State::UntilClose) {
    state_ = State::Done;
  }
  return done() ? absl::OkStatus() : broken("the connection ended before the answer did");
}

absl::Status HttpResponseReader::step(bool& progressed) {
  switch (state_) {
    case State::Head:
      return readHead(progressed);
    case State::Body:
      return takeBody(progressed, State::Done);
    case State::ChunkSize:
      return readChunkSize(progressed);
    case State::ChunkData:
      return takeBody(progressed, State::ChunkEnd);
    case State::ChunkEnd: {
      std::string line;
      progressed = takeLine(line);
      state_ = progressed ? State::ChunkSize : state_;
      return line.empty() ? absl::OkStatus() : broken("no line's end after a chunk", line);
    }
    case State::Trailers: {
      std::string line;
      progressed = takeLine(line);
      state_ = progressed && line.empty() ? State::Done : state_;
      return absl::OkStatus();
    }
    case State::UntilClose:
      response_.body.append(buffer_);
      buffer_.clear();
      return absl::OkStatus();
    case State::Done:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status HttpResponseReader::readHead(bool& progressed) {
  const size_t end = buffer_.find("\r\n\r\n");
  if (std::min(end, buffer_.size()) > kHeadBytesMax) {
    return broken("too long a head");
  }
  if (end == std::string::npos) {
    return absl::OkStatus();
  }
  const std::string head = buffer_.substr(0, end);
  buffer_.erase(0, end + 4);
  progressed = true;
  return parseHead(head);
}

absl::Status HttpResponseReader::parseHead(std::string_view head) {
  const std::string_view first = head.substr(0, head.find("\r\n"));
  size_t status = 0;
  if (!first.starts_with("HTTP/1.") || first.size() < 12 || first[8] != ' ' ||
      !parseNumber(first.substr(9, 3), 10, status) || status < 100) {
    return broken("no status", first);
  }
  if (status < 200) {
    return absl::OkStatus();  // an interim answer: the real one follows
  }
  response_.status = static_cast<int>(status);
  bool chunked = false;
  bool has_length = false;
  head.remove_prefix(first.size());
  while (!head.empty()) {
    head.remove_prefix(2);
    const std::string_view line = head.substr(0, head.find("\r\n"));
    if (const absl::Status parsed = parseHeader(line, chunked, has_length); !parsed.ok()) {
      return parsed;
    }
    head.remove_prefix(line.size());
  }
  if (chunked) {
    state_ = State::ChunkSize;
  } else if (has_length || status == 204 || status == 304) {
    state_ = expected_ > 0 ? State::Body : State::Done;
  } else {
    state_ = State::UntilClose;
  }
  return absl::OkStatus();
}

absl::Status HttpResponseReader::parseHeader(std::string_view line, bool& chunked,
                                             bool& has_length) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    return broken("no colon", line);
  }
  const std::string name = absl::AsciiStrToLower(toAbsl(line.substr(0, colon)));
  const std::string_view value = trim(line.substr(colon + 1));
  if (name == "content-length") {
    has_length = true;
    if (!parseNumber(value, 10, expected_) || expected_ > kBodyBytesMax) {
      return broken("a length that we don't take", value);
    }
  } else if (name == "transfer-encoding") {
    chunked = absl::AsciiStrToLower(toAbsl(value)) == "chunked";
    return chunked ? absl::OkStatus() : broken("an unknown transfer encoding", value);
  }
  return absl::OkStatus();
}

absl::Status HttpResponseReader::readChunkSize(bool& progressed) {
  std::string line;
  progressed = takeLine(line);
  if (!progressed) {
    return absl::OkStatus();
  }
  const std::string_view size = trim(std::string_view(line).substr(0, line.find(';')));
  if (!parseNumber(size, 16, expected_) || expected_ > kBodyBytesMax) {
    return broken("a chunk's size that we don't take", line);
  }
  state_ = expected_ > 0 ? State::ChunkData : State::Trailers;
  return absl::OkStatus();
}

absl::Status HttpResponseReader::takeBody(bool& progressed, State next) {
  const size_t taken = std::min(expected_, buffer_.size());
  response_.body.append(buffer_, 0, taken);
  buffer_.erase(0, taken);
  expected_ -= taken;
  if (expected_ == 0) {
    state_ = next;
    progressed = true;
  }
  return absl::OkStatus();
}

bool HttpResponseReader::takeLine(std::string& line) {
  const size_t end = buffer_.find("\r\n");
  if (end == std::string::npos) {
    return false;
  }
  line = buffer_.substr(0, end);
  buffer_.erase(0, end + 2);
  return true;
}

}  // namespace forebay
