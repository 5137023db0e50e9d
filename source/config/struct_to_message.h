#pragma once

#include "google/protobuf/message.h"
#include "google/protobuf/struct.pb.h"
#include "source/config/config_errors.h"

namespace forebay {

// Fills `message` from `value`, strictly: names as in the proto file, enums by name, durations as
// text, numbers exact. Protobuf's own JSON reader stops at the first mistake and names no path;
// this one adds every mistake to `errors` and leaves the field in question unset. `null` is as if
// left out, as in protobuf's JSON.
//
// Knows the field types that our configuration uses: string, uint32, uint64, double, enum,
// message, google.protobuf.Duration, and lists of them.
void structToMessage(const google::protobuf::Value& value, google::protobuf::Message& message,
                     ConfigErrors& errors);

}  // namespace forebay
