#include "source/admin/answers.h"

#include <utility>

#include "source/base/strings.h"

namespace forebay {
namespace {

struct ErrorKind {
  int http_status;
  std::string_view code;
};

ErrorKind kindOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return {400, "invalid_argument"};
    case absl::StatusCode::kNotFound:
      return {404, "not_found"};
    case absl::StatusCode::kUnimplemented:
      return {405, "method_not_allowed"};
    case absl::StatusCode::kFailedPrecondition:
      return {409, "conflict"};
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kResourceExhausted:
      return {503, "unavailable"};
    case absl::StatusCode::kDataLoss:
      return {500, "data_loss"};
    default:
      return {500, "internal"};
  }
}

// A line's end is kind to whoever reads it in a terminal.
AdminResponse answer(int status, JsonWriter&& json) {
  return {status, "application/json", cat(std::move(json).take(), "\n")};
}

}  // namespace

AdminResponse jsonAnswer(JsonWriter&& json) { return answer(200, std::move(json)); }

AdminResponse errorAnswer(const absl::Status& error) {
  const ErrorKind kind = kindOf(error.code());
  JsonWriter json;
  json.beginObject();
  json.beginObject("error");
  json.text("code", kind.code);
  json.text("message", toStd(error.message()));
  json.endObject();
  json.endObject();
  return answer(kind.http_status, std::move(json));
}

absl::Status fromBelow(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kDataLoss:
      return status;
    default:
      return absl::InternalError(status.message());
  }
}

absl::Status withName(std::string_view name, const absl::Status& status) {
  return absl::Status(status.code(), cat(name, ": ", status.message()));
}

}  // namespace forebay
