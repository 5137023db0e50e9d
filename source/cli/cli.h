#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "source/cli/http_client.h"

namespace forebay {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

struct CliEnvironment {
  std::ostream& out;
  std::ostream& err;
  // A client for `--url`; InvalidArgument when it is no address.
  std::function<absl::StatusOr<std::unique_ptr<AdminClient>>(const std::string& url)> connect;
  // `store accept-loss`: works on the closed store at `path`, and answers with JSON.
  std::function<absl::StatusOr<std::string>(const std::string& path)> accept_loss;
  // How wide the terminal is that `out` goes to.
  size_t columns = 80;
};

// The whole command but for the process around it. `arguments` without the program's name.
// Returns the exit code.
int runCli(absl::Span<const std::string> arguments, const CliEnvironment& environment);

}  // namespace forebay
