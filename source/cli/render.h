#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/struct.pb.h"

namespace forebay {

// JSON answers for people: plain text, safe for a terminal.

absl::StatusOr<google::protobuf::Struct> parseJsonObject(std::string_view json);

// A table, and how to go on when there is more.
std::string renderEvents(const google::protobuf::Struct& answer);
std::string renderUpstreams(const google::protobuf::Struct& answer);
// `key: value` lines in the contract's order; lists of objects become tables below.
std::string renderObject(const google::protobuf::Struct& answer);

// The message of an error answer; empty when it is none.
std::string errorMessage(const google::protobuf::Struct& answer);

}  // namespace forebay
