#include <algorithm>
#include <string>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "source/base/log.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

bool isPrintableAscii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
}

// Plain text stays as it is.
TEST(PrintableTest, KeepsPlainText) {
  EXPECT_EQ(printable("GET /a?b=c&d=[1,2] ~"), "GET /a?b=c&d=[1,2] ~");
  EXPECT_EQ(printable(""), "");
}

// What could forge a log line or steer a terminal is escaped.
TEST(PrintableTest, EscapesWhatForgesLines) {
  EXPECT_EQ(printable("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(printable("say \"hi\""), "say \\\"hi\\\"");
  EXPECT_EQ(printable("it's"), "it\\'s");
  EXPECT_EQ(printable("back\\slash"), "back\\\\slash");
  EXPECT_EQ(printable("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(printable(std::string_view("\0z", 2)), "\\x00z");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
}

// Bytes beyond ASCII are escaped, so that no broken UTF-8 reaches a log.
TEST(PrintableTest, EscapesBeyondAscii) {
  EXPECT_EQ(printable("\xc3\xa9"), "\\xc3\\xa9");
  EXPECT_EQ(printable("\xff"), "\\xff");
}

// Only what is longer than the limit is cut, and the cut shows.
TEST(PrintableTest, CutsAtTheLimit) {
  EXPECT_EQ(printable("abcd", 4), "abcd");
  EXPECT_EQ(printable("abcde", 4), "abcd…");
  EXPECT_EQ(printable("abc", 0), "…");
  EXPECT_EQ(printable("", 0), "");
}

// Without a limit given, 256 bytes of a stranger's text are shown.
TEST(PrintableTest, HasALimitByDefault) {
  EXPECT_EQ(printable(std::string(256, 'a')), std::string(256, 'a'));
  EXPECT_EQ(printable(std::string(257, 'a')), std::string(256, 'a') + "…");
}

// Any bytes at all come out as printable ASCII from which they can be read back.
TEST(PrintableTest, LosesNothing) {
  SeededRandom random(testSeed());
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random.next() % 40, '\0');
    for (char& c : text) {
      c = static_cast<char>(random.next());
    }
    const std::string shown = printable(text);
    ASSERT_TRUE(isPrintableAscii(shown)) << shown;
    std::string back;
    ASSERT_TRUE(absl::CUnescape(shown, &back)) << shown;
    ASSERT_EQ(back, text);
  }
}

}  // namespace
}  // namespace forebay
