#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "source/admin/json_writer.h"
#include "source/base/clock.h"
#include "source/base/log.h"
#include "source/base/strings.h"
#include "source/cli/cli.h"
#include "source/cli/http_client.h"
#include "source/store/rocks/accept_loss.h"

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

class StandardErrorLog final : public forebay::Log {
public:
  void write(forebay::LogLevel level, std::string_view message) override {
    if (level != forebay::LogLevel::Debug) {
      std::cerr << "forebay: " << message << "\n";
    }
  }
};

absl::StatusOr<std::string> acceptLoss(const std::string& path) {
  StandardErrorLog log;
  const absl::StatusOr<forebay::AcceptedLoss> loss = forebay::acceptLoss(path, log);
  if (!loss.ok()) {
    return loss.status();
  }
  forebay::JsonWriter json;
  json.beginObject();
  json.number("kept", loss->kept);
  json.number("missing", loss->missing);
  json.number("revived", loss->revived);
  json.endObject();
  return forebay::cat(std::move(json).take(), "\n");
}

constexpr size_t kColumnsDefault = 80;

size_t terminalColumns() {
  winsize size = {};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kColumnsDefault;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const int code =
      forebay::runCli(arguments, {std::cout, std::cerr, connect, acceptLoss, terminalColumns()});
  std::cout.flush();
  // A full disk or a closed pipe is a failure, not a success with less output.
  return code == forebay::kExitOk && !std::cout ? forebay::kExitFailed : code;
}
