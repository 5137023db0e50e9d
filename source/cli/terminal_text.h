#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forebay {

// `text` (UTF-8) so that it can't move the cursor, colour, reorder or forge lines: control and
// direction characters, and bytes that are no UTF-8, are escaped.
std::string terminalText(std::string_view text);

// Characters that `text` takes on a terminal, more or less: code points.
size_t terminalWidth(std::string_view text);

// Rows under a head, columns aligned, two spaces between them. All cells must be terminalText().
std::string alignedTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace forebay
