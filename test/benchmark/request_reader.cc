#include "test/benchmark/request_reader.h"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace forebay::benchmark {
namespace {

bool equalsIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

std::optional<uint64_t> number(std::string_view text, int base) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

bool RequestReader::feed(std::string_view bytes, const Handler& handler) {
  std::string joined;
  if (!held_.empty()) {
    joined = std::move(held_);
    held_.clear();
    joined.append(bytes);
    bytes = joined;
  }
  while (!bytes.empty() && step(bytes, handler)) {
  }
  if (failed_ || bytes.size() > head_bytes_max) {
    return false;
  }
  held_.assign(bytes);
  return true;
}

bool RequestReader::step(std::string_view& input, const Handler& handler) {
  switch (state_) {
    case State::Head:
      return readHead(input, handler);
    case State::Body:
      if (!skipBody(input)) {
        return false;
      }
      finish(handler);
      return true;
    case State::ChunkSize:
      return readChunkSize(input);
    case State::ChunkData:
      if (!skipBody(input)) {
        return false;
      }
      body_bytes_ -= 2;  // the line end after the chunk was skipped with it
      state_ = State::ChunkSize;
      return true;
    case State::Trailers:
      return readTrailerLine(input, handler);
  }
  return false;
}

bool RequestReader::readHead(std::string_view& input, const Handler& handler) {
  const size_t end = input.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return false;
  }
  if (!parseHead(input.substr(0, end + 2))) {
    failed_ = true;
    return false;
  }
  input.remove_prefix(end + 4);
  if (chunked_) {
    state_ = State::ChunkSize;
  } else if (left_ > 0) {
    state_ = State::Body;
  } else {
    finish(handler);
  }
  return true;
}

// `head` is the request line and the headers, each with its line end.
bool RequestReader::parseHead(std::string_view head) {
  chunked_ = false;
  left_ = 0;
  body_bytes_ = 0;
  event_id_.clear();
  received_at_.clear();

  const size_t line_end = head.find("\r\n");
  const std::string_view line = head.substr(0, line_end);
  const size_t first = line.find(' ');
  const size_t second = line.find(' ', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) {
    return false;
  }
  method_.assign(line.substr(0, first));
  path_.assign(line.substr(first + 1, second - first - 1));
  head.remove_prefix(line_end + 2);

  while (!head.empty()) {
    const size_t end = head.find("\r\n");
    const std::string_view header = head.substr(0, end);
    head.remove_prefix(end + 2);
    const size_t colon = header.find(':');
    if (colon == std::string_view::npos) {
      return false;
    }
    const std::string_view name = header.substr(0, colon);
    const std::string_view value = trimmed(header.substr(colon + 1));
    if (equalsIgnoringCase(name, "content-length")) {
      const std::optional<uint64_t> length = number(value, 10);
      if (!length.has_value()) {
        return false;
      }
      left_ = *length;
    } else if (equalsIgnoringCase(name, "transfer-encoding")) {
      if (!equalsIgnoringCase(value, "chunked")) {
        return false;
      }
      chunked_ = true;
    } else if (equalsIgnoringCase(name, "forebay-event-id")) {
      event_id_.assign(value);
    } else if (equalsIgnoringCase(name, "forebay-received-at")) {
      received_at_.assign(value);
    }
  }
  return true;
}

bool RequestReader::readChunkSize(std::string_view& input) {
  const size_t end = input.find("\r\n");
  if (end == std::string_view::npos) {
    return false;
  }
  const std::string_view line = input.substr(0, end);
  const std::optional<uint64_t> size = number(trimmed(line.substr(0, line.find(';'))), 16);
  if (!size.has_value()) {
    failed_ = true;
    return false;
  }
  input.remove_prefix(end + 2);
  if (*size == 0) {
    state_ = State::Trailers;
  } else {
    left_ = *size + 2;
    state_ = State::ChunkData;
  }
  return true;
}

bool RequestReader::readTrailerLine(std::string_view& input, const Handler& handler) {
  const size_t end = input.find("\r\n");
  if (end == std::string_view::npos) {
    return false;
  }
  input.remove_prefix(end + 2);
  if (end == 0) {
    finish(handler);
  }
  return true;
}

bool RequestReader::skipBody(std::string_view& input) {
  const uint64_t taken = std::min<uint64_t>(left_, input.size());
  input.remove_prefix(taken);
  left_ -= taken;
  body_bytes_ += taken;
  return left_ == 0;
}

void RequestReader::finish(const Handler& handler) {
  state_ = State::Head;
  handler(Request{method_, path_, event_id_, received_at_, body_bytes_});
}

}  // namespace forebay::benchmark
