#include "source/store/rocks/keys.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "source/base/random.h"

namespace forebay::rocks {
namespace {

std::string encode(std::string_view upstream, const DueKey& due, Queue queue = Queue::First) {
  std::string key;
  encodeDueKey(upstream, queue, due, key);
  return key;
}

EventId randomId(SeededRandom& random) {
  std::string bytes;
  for (size_t i = 0; i < EventId::kBytes; ++i) {
    bytes.push_back(static_cast<char>(random.next()));
  }
  return EventId::fromBytes(bytes);
}

// The order of the bytes on disk is the order of the keys in memory, within a lane.
TEST(KeysTest, DueKeysSortAsTheyShould) {
  const uint64_t seed = randomSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  SeededRandom random(seed);
  const int64_t edges[] = {std::numeric_limits<int64_t>::min(), -1, 0, 1, 255, 256,
                           std::numeric_limits<int64_t>::max()};
  for (int i = 0; i < 10'000; ++i) {
    const DueKey a{i % 2 == 0 ? edges[random.next() % 7] : static_cast<int64_t>(random.next()),
                   randomId(random)};
    const DueKey b{i % 3 == 0 ? a.due_us : static_cast<int64_t>(random.next()), randomId(random)};
    ASSERT_EQ(a < b, encode("lane", a) < encode("lane", b));
    ASSERT_EQ(decodeDueKey(encode("lane", a)), a);
  }
}

constexpr Queue kAllQueues[] = {Queue::First, Queue::Retry, Queue::Replay};

// All keys of a lane's queue lie between its bounds, and no others do, whatever the names.
TEST(KeysTest, QueuesDoNotOverlap) {
  const std::string names[] = {
      "a", "b", "aa", std::string("a\0", 2), "\xff", "\xff\xff", std::string(128, 'x')};
  const DueKey ends[] = {DueKey::before(), {0, EventId()}, DueKey::after()};
  for (const std::string& lane : names) {
    for (const std::string& other : names) {
      for (int i = 0; i < 27; ++i) {
        const Queue queue = kAllQueues[i % 3];
        const Queue of_other = kAllQueues[i / 3 % 3];
        const std::string key = encode(other, ends[i / 9], of_other);
        EXPECT_EQ(lane == other && queue == of_other,
                  dueBegin(lane, queue) <= key && key < dueEnd(lane, queue));
        EXPECT_EQ(dueUpstream(key), other);
      }
    }
  }
}

// Bytes that are no key are told apart, not guessed at.
TEST(KeysTest, ForeignBytesAreRefused) {
  EXPECT_EQ(decodeDueKey(""), std::nullopt);
  EXPECT_EQ(decodeDueKey("\x05xy"), std::nullopt);
  EXPECT_EQ(decodeDueKey(encode("lane", {}) + "x"), std::nullopt);
  EXPECT_EQ(decodePosition("123"), std::nullopt);
  EXPECT_EQ(decodeSetAsideKey("short"), std::nullopt);
}

TEST(KeysTest, PositionsAndIdsComeBack) {
  SeededRandom random(1);
  const Position position{0x0102030405060708, randomId(random)};
  EXPECT_EQ(decodePosition(encodePosition(position)), position);
  EXPECT_EQ(decodeSetAsideKey(setAsideKey(3, position.newest)), position.newest);
}

// Attempts of an event are in their order, before those of the next event.
TEST(KeysTest, AttemptsSortByNumber) {
  const EventId id = EventId::firstAt(absl::FromUnixSeconds(1));
  const EventId later = EventId::firstAt(absl::FromUnixSeconds(2));
  EXPECT_LT(attemptKey(id, 2), attemptKey(id, 10));
  EXPECT_LT(attemptKey(id, 255), attemptKey(id, 256));
  EXPECT_LT(attemptKey(id, ~uint32_t{0}), attemptKey(later, 0));
}

}  // namespace
}  // namespace forebay::rocks
