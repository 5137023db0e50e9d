#include "source/cli/http_client.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <system_error>

#include "absl/strings/ascii.h"
#include "source/base/log.h"
#include "source/base/strings.h"

namespace forebay {
namespace {

std::string errorText(int error) { return std::generic_category().message(error); }

// A socket with a time by which everything must have happened.
class Connection {
public:
  Connection(const Clock& clock, MonotonicTime deadline) : clock_(clock), deadline_(deadline) {}
  ~Connection() { reset(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  absl::Status connect(const addrinfo& address) {
    reset();
    fd_ = ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ < 0) {
      return absl::UnavailableError(errorText(errno));
    }
    if (::connect(fd_, address.ai_addr, address.ai_addrlen) == 0) {
      return absl::OkStatus();
    }
    if (errno != EINPROGRESS) {
      return absl::UnavailableError(errorText(errno));
    }
    if (const absl::Status status = wait(POLLOUT); !status.ok()) {
      return status;
    }
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    return error == 0 ? absl::OkStatus() : absl::UnavailableError(errorText(error));
  }

  absl::Status sendAll(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        bytes.remove_prefix(static_cast<size_t>(sent));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (const absl::Status status = wait(POLLOUT); !status.ok()) {
          return status;
        }
      } else if (errno != EINTR) {
        return absl::UnavailableError(errorText(errno));
      }
    }
    return absl::OkStatus();
  }

  // Empty at the end of the stream.
  absl::StatusOr<std::string_view> receive() {
    while (true) {
      const ssize_t received = ::recv(fd_, buffer_, sizeof(buffer_), 0);
      if (received >= 0) {
        return std::string_view(buffer_, static_cast<size_t>(received));
      }
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (const absl::Status status = wait(POLLIN); !status.ok()) {
          return status;
        }
      } else if (errno != EINTR) {
        return absl::UnavailableError(errorText(errno));
      }
    }
  }

private:
  void reset() {
    if (fd_ >= 0) {
      ::close(fd_);
      fd_ = -1;
    }
  }

  absl::Status wait(short events) {
    while (true) {
      const int64_t left_ms = absl::ToInt64Milliseconds(deadline_ - clock_.monotonicNow());
      if (left_ms <= 0) {
        return absl::UnavailableError("no answer in time");
      }
      pollfd waiting{fd_, events, 0};
      const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left_ms, 60'000)));
      if (ready > 0) {
        return absl::OkStatus();
      }
      if (ready < 0 && errno != EINTR) {
        return absl::UnavailableError(errorText(errno));
      }
    }
  }

  const Clock& clock_;
  const MonotonicTime deadline_;
  int fd_ = -1;
  char buffer_[64 * 1024];
};

absl::StatusOr<HttpResponse> converse(Connection& connection, std::string_view request) {
  if (const absl::Status status = connection.sendAll(request); !status.ok()) {
    return status;
  }
  HttpResponseReader reader;
  while (!reader.done()) {
    const absl::StatusOr<std::string_view> bytes = connection.receive();
    if (!bytes.ok()) {
      return bytes.status();
    }
    const absl::Status status = bytes->empty() ? reader.finish() : reader.feed(*bytes);
    if (!status.ok()) {
      return status;
    }
  }
  return std::move(reader).take();
}

}  // namespace

std::string HttpAddress::authority() const {
  return ipv6_literal ? cat("[", host, "]:", port) : cat(host, ":", port);
}

absl::StatusOr<HttpAddress> parseUrl(std::string_view url) {
  const auto bad = [&](std::string_view why) {
    return absl::InvalidArgumentError(
        cat("\"", printable(url, 128), "\" is no address such as http://127.0.0.1:9901: ", why));
  };
  std::string_view rest = url;
  if (const size_t scheme = rest.find("://"); scheme != std::string_view::npos) {
    if (rest.substr(0, scheme) != "http") {
      return bad("only http is spoken");
    }
    rest.remove_prefix(scheme + 3);
  }
  if (rest.ends_with('/')) {
    rest.remove_suffix(1);
  }
  HttpAddress address;
  if (rest.starts_with('[')) {
    const size_t end = rest.find(']');
    if (end == std::string_view::npos) {
      return bad("a bracket is not closed");
    }
    address.host = std::string(rest.substr(1, end - 1));
    address.ipv6_literal = true;
    rest.remove_prefix(end + 1);
  } else {
    address.host = std::string(rest.substr(0, rest.find(':')));
    rest.remove_prefix(address.host.size());
  }
  for (const char c : address.host) {
    if (!absl::ascii_isalnum(c) && c != '.' && c != '-' && c != '_' &&
        !(address.ipv6_literal && (c == ':' || c == '%'))) {
      return bad("the host has a character that none has");
    }
  }
  if (address.host.empty()) {
    return bad("the host is missing");
  }
  if (rest.empty()) {
    address.port = "80";
    return address;
  }
  address.port = std::string(rest.substr(1));
  uint16_t port = 0;
  const char* const end = address.port.data() + address.port.size();
  const auto parsed = std::from_chars(address.port.data(), end, port);
  if (rest[0] != ':' || parsed.ec != std::errc() || parsed.ptr != end || port == 0) {
    return bad("the port is no number from 1 to 65535");
  }
  return address;
}

absl::StatusOr<HttpResponse> HttpClient::send(std::string_view method, std::string_view target,
                                              std::string_view body) {
  const auto failed = [&](std::string_view why) {
    return absl::UnavailableError(cat(address_.authority(), ": ", why));
  };
  const std::string request =
      cat(method, " ", target, " HTTP/1.1\r\nhost: ", address_.authority(),
          "\r\nuser-agent: forebay\r\naccept: application/json\r\nconnection: close\r\n"
          "content-length: ",
          body.size(), "\r\n\r\n", body);

  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(address_.host.c_str(), address_.port.c_str(), &hints, &found);
  if (error != 0) {
    return failed(::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);

  auto connection = std::make_unique<Connection>(clock_, clock_.monotonicNow() + timeout_);
  absl::Status connected = absl::UnavailableError("no address");
  for (const addrinfo* next = found; next != nullptr && !connected.ok(); next = next->ai_next) {
    connected = connection->connect(*next);
  }
  if (!connected.ok()) {
    return failed(cat("can't connect: ", toStd(connected.message())));
  }
  absl::StatusOr<HttpResponse> response = converse(*connection, request);
  if (!response.ok()) {
    return failed(toStd(response.status().message()));
  }
  return response;
}

}  // namespace forebay
