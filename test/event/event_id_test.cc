#include "source/event/event_id.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "gtest/gtest.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

constexpr char kLargest[] = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ";

EventId randomId(Random& random) {
  std::string bytes(EventId::kBytes, '\0');
  for (char& c : bytes) {
    c = static_cast<char>(random.next());
  }
  return EventId::fromBytes(bytes);
}

absl::Time ms(int64_t value) { return absl::FromUnixMillis(value); }

// The example of the ULID specification reads as its time.
TEST(EventIdTest, ReadsTheSpecificationsExample) {
  const absl::StatusOr<EventId> id = EventId::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV");
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(id->time(), ms(1469922850259));
  EXPECT_EQ(id->toString(), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
}

// Text and bytes both give back the id that they came from.
TEST(EventIdTest, RoundTrips) {
  SeededRandom random(testSeed());
  for (int i = 0; i < 100'000; ++i) {
    const EventId id = randomId(random);
    const std::string text = id.toString();
    ASSERT_EQ(text.size(), EventId::kTextLength);
    const absl::StatusOr<EventId> parsed = EventId::parse(text);
    ASSERT_TRUE(parsed.ok()) << text;
    ASSERT_EQ(*parsed, id);
    ASSERT_EQ(EventId::fromBytes(id.bytes()), id);
  }
}

// Ids, their bytes and their texts have one order: keys on disk and cursors rely on it.
TEST(EventIdTest, OneOrderForIdBytesAndText) {
  SeededRandom random(testSeed());
  for (int i = 0; i < 100'000; ++i) {
    const EventId a = randomId(random);
    const EventId b = randomId(random);
    ASSERT_EQ(a < b, a.bytes() < b.bytes());
    ASSERT_EQ(a < b, a.toString() < b.toString());
  }
}

// An id of an earlier millisecond is smaller than any of a later one, across every byte's edge.
TEST(EventIdTest, TimeIsTheHighestPart) {
  for (const int64_t edge : {int64_t{1}, int64_t{0xff}, int64_t{0x100}, int64_t{0xffff},
                             int64_t{0x10000}, int64_t{1'700'000'000'000}, int64_t{1} << 40}) {
    EXPECT_LT(EventId::lastAt(ms(edge - 1)), EventId::firstAt(ms(edge)));
  }
}

// Lower case is read as upper case.
TEST(EventIdTest, ReadsEitherCase) {
  EXPECT_EQ(*EventId::parse("01arz3ndektsv4rrffq69g5fav"),
            *EventId::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
}

// The least and the largest texts are ids; one more is not.
TEST(EventIdTest, ReadsTheEnds) {
  EXPECT_TRUE(EventId::parse(std::string(26, '0'))->isZero());
  ASSERT_TRUE(EventId::parse(kLargest).ok());
  EXPECT_EQ(EventId::parse(kLargest)->bytes(), std::string(16, '\xff'));
  EXPECT_FALSE(EventId::parse("80000000000000000000000000").ok());
  EXPECT_FALSE(EventId::parse("ZZZZZZZZZZZZZZZZZZZZZZZZZZ").ok());
}

// A text of any other length is no id.
TEST(EventIdTest, RefusesOtherLengths) {
  for (size_t length = 0; length < 100; ++length) {
    EXPECT_EQ(EventId::parse(std::string(length, '0')).ok(), length == 26) << length;
  }
}

// Of all 256 bytes only the 32 digits and their lower case are taken, at every place.
TEST(EventIdTest, RefusesOtherBytes) {
  const std::string digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz";
  for (size_t place = 1; place < EventId::kTextLength; ++place) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text(EventId::kTextLength, '1');
      text[place] = static_cast<char>(byte);
      EXPECT_EQ(EventId::parse(text).ok(), digits.find(text[place]) != std::string::npos)
          << place << " " << byte;
    }
  }
  for (int byte = 0; byte < 256; ++byte) {
    std::string text(EventId::kTextLength, '1');
    text[0] = static_cast<char>(byte);
    EXPECT_EQ(EventId::parse(text).ok(), byte >= '0' && byte <= '7') << byte;
  }
}

// The error names the text, escaped and cut: it may come from a URL.
TEST(EventIdTest, ErrorShowsHostileTextSafely) {
  const absl::Status status = EventId::parse("a\n\x1b[2J\"<script>").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(status.message());
  EXPECT_EQ(message, "\"a\\n\\x1b[2J\\\"<script>\" is not an event id (26 letters and digits)");
  const absl::Status huge = EventId::parse(std::string(1'000'000, 'x')).status();
  EXPECT_LT(huge.message().size(), 200u);
}

// firstAt and lastAt enclose every id of their millisecond and none of its neighbours.
TEST(EventIdTest, FirstAndLastEncloseAMillisecond) {
  SeededRandom random(testSeed());
  for (int i = 0; i < 10'000; ++i) {
    const absl::Time time = ms(static_cast<int64_t>(random.next() % (uint64_t{1} << 47)));
    EventIdGenerator generator(random);
    const EventId id = generator.next(time);
    ASSERT_EQ(id.time(), time);
    ASSERT_LE(EventId::firstAt(time), id);
    ASSERT_LE(id, EventId::lastAt(time));
    ASSERT_LT(id, EventId::firstAt(time + absl::Milliseconds(1)));
    ASSERT_EQ(EventId::firstAt(time).time(), time);
    ASSERT_EQ(EventId::lastAt(time).time(), time);
  }
}

// Part of a millisecond belongs to it.
TEST(EventIdTest, PartsOfAMillisecondAreFloored) {
  EXPECT_EQ(EventId::firstAt(ms(7) + absl::Microseconds(999)), EventId::firstAt(ms(7)));
  EXPECT_EQ(EventId::lastAt(ms(7) + absl::Microseconds(999)), EventId::lastAt(ms(7)));
}

// Times that 48 bits can't hold are the nearest that they can.
TEST(EventIdTest, TimesAreClamped) {
  EXPECT_EQ(EventId::firstAt(absl::InfinitePast()), EventId());
  EXPECT_EQ(EventId::firstAt(ms(-1)), EventId());
  EXPECT_EQ(EventId::lastAt(absl::InfiniteFuture()), *EventId::parse(kLargest));
}

// Only the default id is zero.
TEST(EventIdTest, IsZero) {
  EXPECT_TRUE(EventId().isZero());
  EXPECT_FALSE(EventId::firstAt(ms(1)).isZero());
  EXPECT_FALSE(EventId::parse("00000000000000000000000001")->isZero());
}

// Ids work as keys of hash sets.
TEST(EventIdTest, Hashes) {
  SeededRandom random(testSeed());
  EventIdGenerator generator(random);
  absl::flat_hash_set<EventId> ids;
  for (int i = 0; i < 10'000; ++i) {
    ids.insert(generator.next(ms(5)));
  }
  EXPECT_EQ(ids.size(), 10'000u);
}

// Within a millisecond ids only grow, and stay of that millisecond.
TEST(EventIdGeneratorTest, GrowsWithinAMillisecond) {
  SeededRandom random(testSeed());
  EventIdGenerator generator(random);
  EventId previous = generator.next(ms(1'700'000'000'000));
  for (int i = 0; i < 100'000; ++i) {
    const EventId id = generator.next(ms(1'700'000'000'000));
    ASSERT_LT(previous, id);
    ASSERT_EQ(id.time(), ms(1'700'000'000'000));
    previous = id;
  }
}

// The first id of a new millisecond is drawn anew: ids can't be guessed over a longer time.
TEST(EventIdGeneratorTest, DrawsAnewEachMillisecond) {
  SeededRandom random(testSeed());
  EventIdGenerator generator(random);
  const EventId a = generator.next(ms(1000));
  const EventId b = generator.next(ms(1001));
  EXPECT_NE(a.bytes().substr(6), b.bytes().substr(6));
  EXPECT_EQ(b.time(), ms(1001));
}

// However the clock jumps, ids only grow.
TEST(EventIdGeneratorTest, GrowsWhenTheClockStepsBack) {
  SeededRandom random(testSeed());
  EventIdGenerator generator(random);
  EventId previous;
  int64_t now = 1'700'000'000'000;
  for (int i = 0; i < 100'000; ++i) {
    now += static_cast<int64_t>(random.next() % 2001) - 1000;
    const EventId id = generator.next(ms(now));
    ASSERT_LT(previous, id);
    previous = id;
  }
}

// When a millisecond's ids are used up, the next ones borrow from the next millisecond.
TEST(EventIdGeneratorTest, CarriesIntoTheNextMillisecond) {
  SeededRandom random(testSeed());
  EventIdGenerator generator(random);
  generator.continueAfter(EventId::lastAt(ms(1000)));
  EXPECT_EQ(generator.next(ms(1000)), EventId::firstAt(ms(1001)));
}

// After a restart ids go on behind the last one that was stored, even if the clock is behind it.
TEST(EventIdGeneratorTest, ContinuesAfterARestart) {
  SeededRandom random(testSeed());
  EventIdGenerator generator(random);
  const EventId stored = EventId::lastAt(ms(2000));
  generator.continueAfter(stored);
  EXPECT_GT(generator.next(ms(1000)), stored);
}

// Being told of an older id changes nothing.
TEST(EventIdGeneratorTest, ContinueAfterNeverGoesBack) {
  SeededRandom random(testSeed());
  EventIdGenerator generator(random);
  const EventId made = generator.next(ms(5000));
  generator.continueAfter(EventId::firstAt(ms(1000)));
  EXPECT_GT(generator.next(ms(1000)), made);
}

}  // namespace
}  // namespace forebay
