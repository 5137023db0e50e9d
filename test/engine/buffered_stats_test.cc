#include "source/engine/buffered_stats.h"

#include <gtest/gtest.h>

#include <thread>

#include "test/support/fakes.h"

namespace forebay {
namespace {

// What many threads add arrives whole, once.
TEST(BufferedStatsTest, CountersLoseNothing) {
  BufferedStats buffered;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10'000; ++k) {
        buffered.add(Counter::Accepted, {k % 2 == 0 ? "even" : "odd"}, 1);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  RecordingStats stats;
  buffered.flushTo(stats);
  buffered.flushTo(stats);
  EXPECT_EQ(stats.value("accepted[even]"), 20'000u);
  EXPECT_EQ(stats.value("accepted[odd]"), 20'000u);
}

// A gauge keeps its latest value; labels tell series apart.
TEST(BufferedStatsTest, GaugesKeepTheLatest) {
  BufferedStats buffered;
  buffered.set(Gauge::Backlog, {"a"}, 1);
  buffered.set(Gauge::Backlog, {"a"}, 2);
  buffered.set(Gauge::Backlog, {"b"}, 3);
  buffered.set(Gauge::StoreBytes, {}, 4);
  RecordingStats stats;
  buffered.flushTo(stats);
  EXPECT_EQ(stats.value("backlog[a]"), 2u);
  EXPECT_EQ(stats.value("backlog[b]"), 3u);
  EXPECT_EQ(stats.value("store_bytes"), 4u);
}

// Memory stays bounded however many values come between two flushes.
TEST(BufferedStatsTest, HistogramsAreBounded) {
  BufferedStats buffered;
  for (size_t i = 0; i < 3 * BufferedStats::kSamplesMax; ++i) {
    buffered.record(Histogram::AckMs, {}, i);
  }
  RecordingStats stats;
  buffered.flushTo(stats);
  EXPECT_EQ(stats.samples("ack_ms").size(), BufferedStats::kSamplesMax);
}

}  // namespace
}  // namespace forebay
