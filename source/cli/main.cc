#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "source/base/clock.h"
#include "source/cli/cli.h"
#include "source/cli/http_client.h"

namespace {

constexpr absl::Duration kTimeout = absl::Seconds(60);

absl::StatusOr<std::unique_ptr<forebay::AdminClient>> connect(const std::string& url) {
  absl::StatusOr<forebay::HttpAddress> address = forebay::parseUrl(url);
  if (!address.ok()) {
    return address.status();
  }
  return std::make_unique<forebay::HttpClient>(*std::move(address), kTimeout,
                                               forebay::systemClock());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const int code = forebay::runCli(arguments, {std::cout, std::cerr, connect});
  std::cout.flush();
  // A full disk or a closed pipe is a failure, not a success with less output.
  return code == forebay::kExitOk && !std::cout ? forebay::kExitFailed : code;
}
