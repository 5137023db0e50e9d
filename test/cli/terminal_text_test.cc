#include "source/cli/terminal_text.h"

#include "gtest/gtest.h"

namespace forebay {
namespace {

TEST(TerminalTextTest, NothingMovesTheCursorOrTurnsTheLine) {
  EXPECT_EQ(terminalText("zażółć 漢字 <ok>"), "zażółć 漢字 <ok>");
  EXPECT_EQ(terminalText("\x1b[2J\n\r\t\x7f"), "\\u001b[2J\\u000a\\u000d\\u0009\\u007f");
  EXPECT_EQ(terminalText("\u009b31m\u202e\u2066\u200f\ufeff"),
            "\\u009b31m\\u202e\\u2066\\u200f\\ufeff");
  EXPECT_EQ(terminalText("\xff\xe2\x82z"), "\\xff\\xe2\\x82z");
}

TEST(TerminalTextTest, ColumnsAreAlignedByCharacters) {
  EXPECT_EQ(alignedTable({{"A", "BB", "C"}, {"żółć", "b", "c"}, {"x", "", "longer"}}),
            "A     BB  C\n"
            "żółć  b   c\n"
            "x         longer\n");
}

}  // namespace
}  // namespace forebay
