#include "source/cli/terminal_text.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "source/base/utf8.h"

namespace forebay {
namespace {

bool isUnsafe(uint32_t symbol) {
  return symbol < 0x20 || (symbol >= 0x7F && symbol <= 0x9F) ||
         (symbol >= 0x200B && symbol <= 0x200F) || (symbol >= 0x2028 && symbol <= 0x202E) ||
         (symbol >= 0x2060 && symbol <= 0x2069) || symbol == 0xFEFF;
}

}  // namespace

std::string terminalText(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const Utf8Symbol symbol = firstUtf8Symbol(text);
    const std::string_view bytes = text.substr(0, symbol.length);
    if (!symbol.valid) {
      for (const char byte : bytes) {
        absl::StrAppendFormat(&safe, "\\x%02x", static_cast<unsigned char>(byte));
      }
    } else if (isUnsafe(symbol.value)) {
      absl::StrAppendFormat(&safe, "\\u%04x", symbol.value);
    } else {
      safe.append(bytes);
    }
    text.remove_prefix(bytes.size());
  }
  return safe;
}

size_t terminalWidth(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string alignedTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], terminalWidth(row[i]));
    }
  }
  std::string table;
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      table.append(row[i]);
      // No blanks at the end of a line.
      if (i + 1 < row.size()) {
        table.append(widths[i] - terminalWidth(row[i]) + 2, ' ');
      }
    }
    table.push_back('\n');
  }
  return table;
}

}  // namespace forebay
