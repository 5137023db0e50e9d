#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "source/base/clock.h"
#include "source/cli/http_response.h"

namespace forebay {

// Whoever answers the command: Envoy's admin, or a test.
class AdminClient {
public:
  virtual ~AdminClient() = default;
  virtual absl::StatusOr<HttpResponse> send(std::string_view method, std::string_view target,
                                            std::string_view body) = 0;
};

struct HttpAddress {
  std::string host;
  std::string port;
  bool ipv6_literal = false;

  std::string authority() const;
};

// http://host:port, the scheme and the port (80) optional; [::1]:9901 for IPv6. An error names
// what is wrong with `url`.
absl::StatusOr<HttpAddress> parseUrl(std::string_view url);

// One request, one connection, blocking. Unavailable, with the address and the reason, when no
// whole answer comes within `timeout`.
class HttpClient final : public AdminClient {
public:
  HttpClient(HttpAddress address, absl::Duration timeout, const Clock& clock)
      : address_(std::move(address)), timeout_(timeout), clock_(clock) {}

  absl::StatusOr<HttpResponse> send(std::string_view method, std::string_view target,
                                    std::string_view body) override;

private:
  const HttpAddress address_;
  const absl::Duration timeout_;
  const Clock& clock_;
};

}  // namespace forebay
