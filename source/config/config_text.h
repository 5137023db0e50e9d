#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "google/protobuf/struct.pb.h"

namespace forebay {

// How values of a configuration are read from text and shown in its errors.

// "30s" or "0.5s": digits, at most nine more after a point, an `s`; a `-` before it is read too.
// Nothing for other text, and for what is beyond the range of google.protobuf.Duration.
std::optional<absl::Duration> parseSeconds(std::string_view text);

// As the user would write it: "30s", "0.5s".
std::string secondsText(absl::Duration duration);

// Without exponent where that is readable: 10737418240, 0.2.
std::string numberText(double number);

// `"text"`, escaped and cut if it must be.
std::string inQuotes(std::string_view text);

// A scalar as it is; of a list or a mapping only that it is one.
std::string valueText(const google::protobuf::Value& value);
// Only what kind of value it is, for places where a secret may stand by mistake.
std::string_view kindText(const google::protobuf::Value& value);

}  // namespace forebay
