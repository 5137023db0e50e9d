#pragma once

#include <string>
#include <string_view>

namespace forebay {

enum class LogLevel { Debug, Info, Warn, Error };

// Where our lines go: Envoy's log in production. Safe from any thread.
class Log {
public:
  virtual ~Log() = default;
  virtual void write(LogLevel level, std::string_view message) = 0;

  void debug(std::string_view message) { write(LogLevel::Debug, message); }
  void info(std::string_view message) { write(LogLevel::Info, message); }
  void warn(std::string_view message) { write(LogLevel::Warn, message); }
  void error(std::string_view message) { write(LogLevel::Error, message); }
};

// `text` as one printable line: control characters, quotes and bytes beyond ASCII are escaped, and
// what is longer than `bytes_max` is cut. For anything that a stranger wrote.
std::string printable(std::string_view text, size_t bytes_max = 256);

}  // namespace forebay
