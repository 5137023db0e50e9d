#include "source/ingest/receiver.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "source/base/strings.h"

namespace forebay {

Admission admit(const CaptureConfig& config, std::string_view method,
                std::string_view content_length) {
  if (std::find(config.methods.begin(), config.methods.end(), method) == config.methods.end()) {
    return Admission::PassThrough;
  }
  uint64_t length = 0;
  if (absl::SimpleAtoi(toAbsl(content_length), &length) && length > config.body_bytes_max) {
    return Admission::TooLarge;
  }
  return Admission::Capture;
}

Answer tooLargeAnswer() {
  Answer answer;
  answer.status = 413;
  answer.body = "the body is larger than this endpoint takes\n";
  answer.content_type = "text/plain";
  answer.rejected_reason = "too_large";
  return answer;
}

Answer appendAnswer(const CaptureConfig& config, const absl::Status& appended) {
  Answer answer;
  if (appended.ok()) {
    answer.status = config.acknowledge.status;
    answer.body = config.acknowledge.body;
    answer.content_type = config.acknowledge.content_type;
    return answer;
  }
  answer.status = 503;
  answer.body = "not stored, please send it again\n";
  answer.content_type = "text/plain";
  answer.retry_after = true;
  answer.rejected_reason =
      appended.code() == absl::StatusCode::kResourceExhausted ? "overload" : "store_error";
  return answer;
}

}  // namespace forebay
