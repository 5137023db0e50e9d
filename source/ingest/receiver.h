#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "source/config/config.h"

namespace forebay {

enum class Admission {
  Capture,
  PassThrough,  // not a method that this source captures: the route has it
  TooLarge,     // 413
};

// Decides by a request's head. A content-length that is not a number says nothing: the body is
// counted as it comes.
Admission admit(const CaptureConfig& config, std::string_view method,
                std::string_view content_length);

// What a sender is told.
struct Answer {
  uint32_t status = 200;
  std::string_view body;
  std::string_view content_type;
  bool retry_after = false;          // with limits::kRetryAfterSeconds
  std::string_view rejected_reason;  // for the counter; empty when accepted
};

Answer tooLargeAnswer();
// For what the store said of the append. Our own trouble is 503, never 4xx: providers switch an
// endpoint off for a 4xx. Views point into `config` or are static.
Answer appendAnswer(const CaptureConfig& config, const absl::Status& appended);

}  // namespace forebay
