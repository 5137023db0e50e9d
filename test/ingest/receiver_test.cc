#include "source/ingest/receiver.h"

#include <gtest/gtest.h>

namespace forebay {
namespace {

CaptureConfig config() {
  CaptureConfig result;
  result.source = "shop";
  result.body_bytes_max = 1000;
  result.methods = {"POST", "PUT"};
  return result;
}

// Only the methods that the source names are captured; all others pass through.
TEST(ReceiverTest, OtherMethodsPassThrough) {
  EXPECT_EQ(admit(config(), "POST", ""), Admission::Capture);
  EXPECT_EQ(admit(config(), "PUT", "10"), Admission::Capture);
  for (const char* method : {"GET", "HEAD", "DELETE", "OPTIONS", "post", ""}) {
    EXPECT_EQ(admit(config(), method, ""), Admission::PassThrough) << method;
  }
  EXPECT_EQ(admit(config(), "GET", "5000"), Admission::PassThrough);
}

// An announced length is held against the limit before a byte of the body is taken.
TEST(ReceiverTest, AnnouncedLengthIsChecked) {
  EXPECT_EQ(admit(config(), "POST", "1000"), Admission::Capture);
  EXPECT_EQ(admit(config(), "POST", "1001"), Admission::TooLarge);
  EXPECT_EQ(admit(config(), "POST", "18446744073709551615"), Admission::TooLarge);
  EXPECT_EQ(admit(config(), "POST", "garbage"), Admission::Capture);
  EXPECT_EQ(tooLargeAnswer().status, 413u);
}

// A stored event is answered as configured.
TEST(ReceiverTest, AcknowledgesAsConfigured) {
  CaptureConfig custom = config();
  EXPECT_EQ(appendAnswer(custom, absl::OkStatus()).status, 200u);
  EXPECT_EQ(appendAnswer(custom, absl::OkStatus()).body, "");
  custom.acknowledge = {201, "{}", "application/json"};
  const Answer answer = appendAnswer(custom, absl::OkStatus());
  EXPECT_EQ(answer.status, 201u);
  EXPECT_EQ(answer.body, "{}");
  EXPECT_EQ(answer.content_type, "application/json");
  EXPECT_FALSE(answer.retry_after);
  EXPECT_EQ(answer.rejected_reason, "");
}

// Whatever is wrong on our side, the sender gets 503 and is asked to come again: never a 4xx,
// never a success.
TEST(ReceiverTest, OurOwnTroubleIs503) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "trouble");
    const Answer answer = appendAnswer(config(), status);
    EXPECT_EQ(answer.status, 503u) << status;
    EXPECT_TRUE(answer.retry_after) << status;
    EXPECT_NE(answer.rejected_reason, "") << status;
  }
  EXPECT_EQ(appendAnswer(config(), absl::ResourceExhaustedError("")).rejected_reason, "overload");
  EXPECT_EQ(appendAnswer(config(), absl::UnavailableError("")).rejected_reason, "store_error");
}

}  // namespace
}  // namespace forebay
