#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "source/admin/admin.h"
#include "source/admin/json_writer.h"

namespace forebay {

AdminResponse jsonAnswer(JsonWriter&& json);

// {"error": {"code", "message"}}. By the status' code: InvalidArgument and OutOfRange 400,
// NotFound 404, Unimplemented 405, FailedPrecondition 409, Unavailable and ResourceExhausted 503,
// the rest 500.
AdminResponse errorAnswer(const absl::Status& error);

// What a store or a lane reports, with its code kept only where it is the caller's business: that
// a store calls an argument of ours invalid is our mistake, not the operator's.
absl::Status fromBelow(const absl::Status& status);

// `status` with `name: ` before its message.
absl::Status withName(std::string_view name, const absl::Status& status);

}  // namespace forebay
