#include "source/envoy/envoy_log.h"

#include "source/base/strings.h"
#include "source/envoy/abi_types.h"

namespace forebay {
namespace {

class EnvoyLog final : public Log {
public:
  void write(LogLevel level, std::string_view message) override {
    const std::string line = cat("forebay: ", message);
    envoy_dynamic_module_callback_log(levelOf(level), toAbi(line));
  }

private:
  static FbLogLevel levelOf(LogLevel level) {
    switch (level) {
      case LogLevel::Debug:
        return FbLogDebug;
      case LogLevel::Info:
        return FbLogInfo;
      case LogLevel::Warn:
        return FbLogWarn;
      case LogLevel::Error:
        return FbLogError;
    }
    return FbLogError;
  }
};

}  // namespace

Log& envoyLog() {
  static EnvoyLog* const log = new EnvoyLog;
  return *log;
}

}  // namespace forebay
