#include "source/event/names.h"

#include <string>

#include "gtest/gtest.h"

namespace forebay {
namespace {

// States have the contract's words.
TEST(NamesTest, States) {
  EXPECT_EQ(stateName(v1::STATE_PENDING), "pending");
  EXPECT_EQ(stateName(v1::STATE_RETRYING), "retrying");
  EXPECT_EQ(stateName(v1::STATE_DELIVERED), "delivered");
  EXPECT_EQ(stateName(v1::STATE_DEAD), "dead");
  EXPECT_EQ(stateName(v1::STATE_QUARANTINED), "quarantined");
}

// A state that a newer version stored has a word too.
TEST(NamesTest, UnknownValues) {
  EXPECT_EQ(stateName(static_cast<v1::State>(99)), "unknown");
  EXPECT_EQ(deadReasonName(static_cast<v1::DeadReason>(99)), "unknown");
  EXPECT_EQ(verifiedName(static_cast<v1::Verified>(99)), "none");
}

// Reasons have the contract's words; no reason has none.
TEST(NamesTest, DeadReasons) {
  EXPECT_EQ(deadReasonName(v1::DEAD_REASON_NONE), "");
  EXPECT_EQ(deadReasonName(v1::DEAD_REASON_PERMANENT), "permanent");
  EXPECT_EQ(deadReasonName(v1::DEAD_REASON_EXHAUSTED), "exhausted");
  EXPECT_EQ(deadReasonName(v1::DEAD_REASON_EXPIRED), "expired");
  EXPECT_EQ(deadReasonName(v1::DEAD_REASON_CORRUPT), "corrupt");
}

// `forebay-verified` says true, false or none.
TEST(NamesTest, Verified) {
  EXPECT_EQ(verifiedName(v1::VERIFIED_NONE), "none");
  EXPECT_EQ(verifiedName(v1::VERIFIED_TRUE), "true");
  EXPECT_EQ(verifiedName(v1::VERIFIED_FALSE), "false");
}

// Every state can be read back from its word.
TEST(NamesTest, ParsesEveryState) {
  for (int i = v1::State_MIN; i <= v1::State_MAX; ++i) {
    const v1::State state = static_cast<v1::State>(i);
    const absl::StatusOr<v1::State> parsed = parseState(stateName(state));
    ASSERT_TRUE(parsed.ok()) << i;
    EXPECT_EQ(*parsed, state);
  }
}

// Any other text is refused, named safely, and told what is allowed.
TEST(NamesTest, RefusesOtherStates) {
  for (const char* const text : {"", "Pending", "DEAD", "pending ", "unknown", "dea", "0"}) {
    EXPECT_FALSE(parseState(text).ok()) << text;
  }
  const std::string message(parseState("de\nad").status().message());
  EXPECT_EQ(message, "\"de\\nad\" is no state (pending, retrying, delivered, dead, quarantined)");
}

}  // namespace
}  // namespace forebay
