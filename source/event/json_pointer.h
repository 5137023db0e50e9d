#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace forebay {

// Brackets within brackets. JSON that goes deeper is taken for an attack, and has no result.
inline constexpr size_t kJsonDepthMax = 1024;

// Whether `text` is a JSON pointer (RFC 6901): empty, or tokens that each begin with `/`, in which
// `~` only stands before `0` or `1`.
bool isJsonPointer(std::string_view text);

// The scalar that `pointer` names in `json`: a string without its escapes, as UTF-8; a number as it
// is written; `true` or `false`.
//   scalarAt(R"({"data": {"ids": [7, "a\u0062"]}})", "/data/ids/1") == "ab"
// Nothing when there is no such place, when it holds null, an object, an array, or a string that no
// UTF-8 can say (half a surrogate pair), and when `json` is not JSON (RFC 8259, in UTF-8) from its
// first byte to its last. Of a name that an object holds twice, the last one counts.
//
// For hostile bytes: one pass, no recursion, no memory but the result's. `pointer` must be one.
std::optional<std::string> scalarAt(std::string_view json, std::string_view pointer);

}  // namespace forebay
