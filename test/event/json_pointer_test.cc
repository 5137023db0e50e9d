// What a pointer finds, and what it refuses to find, case by case.

#include "source/event/json_pointer.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace forebay {
namespace {

using Found = std::optional<std::string>;
constexpr std::nullopt_t kNothing = std::nullopt;

// The document of RFC 6901, section 5, with scalars where it has them.
constexpr char kRfc[] = R"({
  "foo": ["bar", "baz"],
  "": 0,
  "a/b": 1,
  "c%d": 2,
  "e^f": 3,
  "g|h": 4,
  "i\\j": 5,
  "k\"l": 6,
  " ": 7,
  "m~n": 8
})";

TEST(JsonPointerTest, FindsWhatTheRfcSays) {
  EXPECT_EQ(scalarAt(kRfc, "/foo/0"), "bar");
  EXPECT_EQ(scalarAt(kRfc, "/foo/1"), "baz");
  EXPECT_EQ(scalarAt(kRfc, "/"), "0");
  EXPECT_EQ(scalarAt(kRfc, "/a~1b"), "1");
  EXPECT_EQ(scalarAt(kRfc, "/c%d"), "2");
  EXPECT_EQ(scalarAt(kRfc, "/e^f"), "3");
  EXPECT_EQ(scalarAt(kRfc, "/g|h"), "4");
  EXPECT_EQ(scalarAt(kRfc, "/i\\j"), "5");
  EXPECT_EQ(scalarAt(kRfc, "/k\"l"), "6");
  EXPECT_EQ(scalarAt(kRfc, "/ "), "7");
  EXPECT_EQ(scalarAt(kRfc, "/m~0n"), "8");
  EXPECT_EQ(scalarAt(kRfc, ""), kNothing);      // the whole document is an object
  EXPECT_EQ(scalarAt(kRfc, "/foo"), kNothing);  // an array
}

TEST(JsonPointerTest, KnowsPointers) {
  for (const char* const good :
       {"", "/", "//", "/a", "/a/b", "/a~0b", "/a~1b", "/~0~1", "/~01", "/0", "/-", "/ä ö"}) {
    EXPECT_TRUE(isJsonPointer(good)) << good;
  }
  for (const char* const bad :
       {"a", "a/b", "#/a", "$.a", " /a", "/~", "/a~", "/~2", "/~/a", "/~~0", "~0", "/a/b~"}) {
    EXPECT_FALSE(isJsonPointer(bad)) << bad;
  }
}

struct Case {
  const char* json;
  const char* pointer;
  Found expected;
};

void check(const std::vector<Case>& cases) {
  for (const auto& [json, pointer, expected] : cases) {
    EXPECT_EQ(scalarAt(json, pointer), expected) << json << " at \"" << pointer << "\"";
  }
}

// Numbers are never read as numbers: 1 and 1.0 are two keys, and no digit of a long id is lost.
TEST(JsonPointerTest, ScalarsAreText) {
  check({
      {R"({"a": "x"})", "/a", "x"},
      {R"({"a": ""})", "/a", ""},
      {R"({"a": true})", "/a", "true"},
      {R"({"a": false})", "/a", "false"},
      {R"({"a": null})", "/a", kNothing},
      {R"({"a": {}})", "/a", kNothing},
      {R"({"a": []})", "/a", kNothing},
      {R"({"a": 0})", "/a", "0"},
      {R"({"a": -0})", "/a", "-0"},
      {R"({"a": 1.0})", "/a", "1.0"},
      {R"({"a": 1E+2})", "/a", "1E+2"},
      {R"({"a": 12345678901234567890123})", "/a", "12345678901234567890123"},
      {R"({"a":-1.5e-3,"b":2})", "/a", "-1.5e-3"},
      {"\t\r\n [ 1 , 2 ] \n", "/1", "2"},
      {R"("x")", "", "x"},
      {" 7 ", "", "7"},
      {"null", "", kNothing},
      {R"("x")", "/a", kNothing},
      {"7", "/0", kNothing},
  });
}

TEST(JsonPointerTest, MissingPlacesHoldNothing) {
  check({
      {R"({"a": 1})", "/b", kNothing},
      {R"({"a": 1})", "/a/b", kNothing},
      {R"({"a": 1})", "/A", kNothing},
      {R"({"a": 1})", "/a/", kNothing},
      {R"({"ab": 1})", "/a", kNothing},
      {R"({"a": 1})", "/ab", kNothing},
      {R"({"a": "b"})", "/b", kNothing},  // a value is no name
      {R"({"x": {"b": 1}})", "/b", kNothing},
      {R"({"x": {"a": {"b": 1}}})", "/a/b", kNothing},
      {R"({"a": {"x": {"b": 1}}})", "/a/b", kNothing},
      {R"({})", "/a", kNothing},
      {R"([])", "/0", kNothing},
  });
}

TEST(JsonPointerTest, ElementsCountFromZeroAndWithoutLeadingZeros) {
  check({
      {R"([5, 6, 7])", "/0", "5"},
      {R"([5, 6, 7])", "/2", "7"},
      {R"([5, 6, 7])", "/3", kNothing},
      {R"([5, 6, 7])", "/-", kNothing},
      {R"([5, 6, 7])", "/", kNothing},
      {R"([5, 6, 7])", "/01", kNothing},
      {R"([5, 6, 7])", "/00", kNothing},
      {R"([5, 6, 7])", "/+1", kNothing},
      {R"([5, 6, 7])", "/-1", kNothing},
      {R"([5, 6, 7])", "/1.0", kNothing},
      {R"([5, 6, 7])", "/1 ", kNothing},
      {R"([5, 6, 7])", "/18446744073709551615", kNothing},
      {R"([5, 6, 7])", "/18446744073709551616", kNothing},  // 2^64 is not 0
      {R"([5, 6, 7])", "/99999999999999999999999999", kNothing},
      {R"({"0": "name", "01": "other", "-": "dash"})", "/0", "name"},
      {R"({"0": "name", "01": "other", "-": "dash"})", "/01", "other"},
      {R"({"0": "name", "01": "other", "-": "dash"})", "/-", "dash"},
  });
}

// What an element holds must not disturb the counting around it.
TEST(JsonPointerTest, ElementsMayHoldAnything) {
  check({
      {R"([[1, 2], [3, 4], 5])", "/2", "5"},
      {R"([[1, 2], [3, 4], 5])", "/1/0", "3"},
      {R"([[1, 2], [3, 4], 5])", "/0/1", "2"},
      {R"([[1, 2], [3, 4], 5])", "/0", kNothing},
      {R"([[9], [[8]], 1])", "/1/0/0", "8"},
      {R"([{"a": [0]}, {"a": [1, 2]}, {"a": [3, 4, 5]}])", "/1/a/1", "2"},
      {R"([{"a": [0]}, {"a": [1, 2]}, {"a": [3, 4, 5]}])", "/2/a/2", "5"},
      {R"([{"a": [0]}, {"a": [1, 2]}, {"a": [3, 4, 5]}])", "/0/a/1", kNothing},
      {R"([[[]], [], {}, "x"])", "/3", "x"},
      {R"([[0], 1])", "/0/0", "0"},
      {R"([[], 1])", "/0/0", kNothing},
  });
}

// As in JavaScript, Python and Go: what the app sees is what orders.
TEST(JsonPointerTest, TheLastOfANameCounts) {
  check({
      {R"({"a": 1, "a": 2})", "/a", "2"},
      {R"({"a": 1, "b": 5, "a": 2, "c": 6})", "/a", "2"},
      {R"({"a": 1, "a": null})", "/a", kNothing},
      {R"({"a": 1, "a": {}})", "/a", kNothing},
      {R"({"a": 1, "a": [1]})", "/a", kNothing},
      {R"({"a": {}, "a": 1})", "/a", "1"},
      {R"({"a": 1, "\u0061": 2})", "/a", "2"},
      {R"({"a": {"b": 1}, "a": {"b": 2}})", "/a/b", "2"},
      {R"({"a": {"b": 1}, "a": {"c": 2}})", "/a/b", kNothing},
      {R"({"a": {"b": 1}, "a": {}})", "/a/b", kNothing},
      {R"({"a": {"b": 1}, "a": 7})", "/a/b", kNothing},
      {R"({"a": {"b": 1}, "a": []})", "/a/b", kNothing},
      {R"({"a": 7, "a": {"b": 1}})", "/a/b", "1"},
      {R"({"a": {"b": 1, "b": 2}, "c": {"b": 3}})", "/a/b", "2"},
      {R"({"a": [1, 2], "a": [3, 4]})", "/a/1", "4"},
      {R"({"a": [1, 2], "a": [3]})", "/a/1", kNothing},
      {R"([{"a": 1}, {"a": 2}])", "/0/a", "1"},
  });
}

TEST(JsonPointerTest, StringsLoseTheirEscapes) {
  check({
      {R"(["\"\\\/\b\f\n\r\t"])", "/0", "\"\\/\b\f\n\r\t"},
      {R"(["a\u0041b"])", "/0", "aAb"},
      {R"(["\u00e9\u00E9"])", "/0", "\u00e9\u00e9"},
      {R"(["\u07ff\u0800"])", "/0", "\u07ff\u0800"},
      {R"(["\u20ac"])", "/0", "\u20ac"},
      {R"(["\uffff"])", "/0", "\xEF\xBF\xBF"},
      {R"(["\ud83d\ude00"])", "/0", "\xF0\x9F\x98\x80"},
      {R"(["\uD800\uDC00"])", "/0", "\xF0\x90\x80\x80"},
      {R"(["\udbff\udfff"])", "/0", "\xF4\x8F\xBF\xBF"},
      {R"(["é€😀"])", "/0", "é€😀"},
      {R"(["\\u0041"])", "/0", "\\u0041"},
      {R"(["]},:"])", "/0", "]},:"},
  });
  EXPECT_EQ(scalarAt(R"(["a\u0000b"])", "/0"), std::string("a\0b", 3));
}

TEST(JsonPointerTest, NamesAreComparedWithoutTheirEscapes) {
  check({
      {R"({"\u0061\/b": 1})", "/a~1b", "1"},
      {R"({"caf\u00e9": 1})", "/café", "1"},
      {R"({"café": 1})", "/café", "1"},
      {R"({"\ud83d\ude00": 1})", "/😀", "1"},
      {R"({"~1": 1})", "/~01", "1"},
      {R"({"/": 1})", "/~01", kNothing},
      {R"({"\\": 1})", "/\\", "1"},
      {R"({"a": {"": {"": 1}}})", "/a//", "1"},
      {R"({"": {"b": 1}})", "//b", "1"},
      {R"({"\ud83d": 1, "a": 2})", "/a", "2"},
  });
}

// The grammar allows half a surrogate pair, but no UTF-8 can say it.
TEST(JsonPointerTest, HalfAPairIsNoText) {
  check({
      {R"({"a": "\ud83d"})", "/a", kNothing},
      {R"({"a": "\ude00"})", "/a", kNothing},
      {R"({"a": "\ud83dx"})", "/a", kNothing},
      {R"({"a": "\ud83d\n"})", "/a", kNothing},
      {R"({"a": "\ud83d\u0041"})", "/a", kNothing},
      {R"({"a": "\ud83d\ud83d\ude00"})", "/a", kNothing},
      {R"({"a": "\ude00\ud83d"})", "/a", kNothing},
      {R"({"a": "x", "a": "\ud83d"})", "/a", kNothing},
      {R"({"b": "\ud83d", "a": "x"})", "/a", "x"},
  });
}

// Malformed before the place, at it, or behind it: no result.
TEST(JsonPointerTest, WhatIsNoJsonHoldsNothing) {
  const char* const broken[] = {
      "",
      " ",
      "{",
      "}",
      "nul",
      "nulll",
      "True",
      "NaN",
      "Infinity",
      "-",
      "+1",
      ".5",
      "5.",
      "5.e1",
      "1e",
      "1e+",
      "1e+-1",
      "--1",
      "-a",
      "01",
      "-01",
      "0x10",
      "1_000",
      "1 2",
      "[1 2]",
      "[1,]",
      "[,1]",
      "[1,,2]",
      "[,]",
      "[1}",
      "[1]]",
      "[1",
      "{\"b\"}",
      "{\"b\":}",
      "{\"b\" 1}",
      "{\"b\":1,}",
      "{,\"b\":1}",
      "{\"b\":1]",
      "{\"b\":1}}",
      "{\"b\":1",
      "{\"b\":1 \"c\":2}",
      "{b:1}",
      "{'b':1}",
      "{1:1}",
      "{null:1}",
      "{\"b\"::1}",
      "\"",
      "\"x",
      "\"\\",
      "\"\\\"",
      "\"\\x41\"",
      "\"\\'\"",
      "\"\\u\"",
      "\"\\u004\"",
      "\"\\u004g\"",
      "\"\\u00 41\"",
      "\"\\U0041\"",
      "\"a\nb\"",
      "\"a\tb\"",
      "\"a\x1f\"",
      "\"\xff\"",
      "\"\xc0\xaf\"",          // overlong
      "\"\xed\xa0\x80\"",      // a surrogate
      "\"\xf4\x90\x80\x80\"",  // beyond Unicode
      "\"\xe2\x82\"",          // cut
      "// comment\n1",
      "/* comment */ 1",
      "\xef\xbb\xbf{}",  // a byte order mark
      "\xa0{}",
      "\f1",
      "\v1",
  };
  for (const std::string text : broken) {
    EXPECT_EQ(scalarAt(text, ""), kNothing) << text;
    EXPECT_EQ(scalarAt("{\"a\": 7, \"z\": " + text + "}", "/a"), kNothing) << text;
    EXPECT_EQ(scalarAt("{\"z\": " + text + ", \"a\": 7}", "/a"), kNothing) << text;
    EXPECT_EQ(scalarAt("{\"a\": 7} " + text, "/a").has_value(), text.empty() || text == " ")
        << text;
  }
  EXPECT_EQ(scalarAt(std::string("[1]\0", 4), "/0"), kNothing);
  EXPECT_EQ(scalarAt(std::string("[1\0]", 4), "/0"), kNothing);
  EXPECT_EQ(scalarAt(std::string("[\"\0\"]", 5), "/0"), kNothing);
}

// A body that was cut anywhere is no JSON; and a document is never read beyond its end.
TEST(JsonPointerTest, EveryTruncationHoldsNothing) {
  for (const std::string& document :
       {std::string(kRfc), std::string(R"({"a": [1, {"b": "\ud83d\ude00é€😀\n"}, true, null]})"),
        std::string(R"([-1.5e+10, false, {"a": {}, "b": []}, "x"])"),
        std::string(R"("x\u0041")")}) {
    for (const char* const pointer : {"", "/", "/foo/1", "/a/1/b", "/a/0", "/0", "/3", "/m~0n"}) {
      for (size_t length = 0; length < document.size(); ++length) {
        // A copy of its own, so that the sanitizer sees a step beyond.
        const std::vector<char> cut(document.begin(), document.begin() + length);
        EXPECT_EQ(scalarAt({cut.data(), cut.size()}, pointer), kNothing)
            << document.substr(0, length) << " at \"" << pointer << "\"";
      }
    }
  }
}

std::string nested(size_t depth, char open, const std::string& inner, char close) {
  return std::string(depth, open) + inner + std::string(depth, close);
}

TEST(JsonPointerTest, DepthIsBounded) {
  std::string pointer;
  for (size_t i = 0; i < kJsonDepthMax; ++i) {
    pointer += "/0";
  }
  EXPECT_EQ(scalarAt(nested(kJsonDepthMax, '[', "7", ']'), pointer), "7");
  EXPECT_EQ(scalarAt(nested(kJsonDepthMax + 1, '[', "7", ']'), pointer + "/0"), kNothing);
  EXPECT_EQ(scalarAt("{\"a\": 1, \"b\": " + nested(kJsonDepthMax, '[', "", ']') + "}", "/a"),
            kNothing);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) {
    objects += "{\"a\":";
  }
  for (const std::string& deep :
       {nested(100'000, '[', "", ']'), std::string(100'000, '['), std::string(100'000, '{'),
        objects, objects + "1" + std::string(100'000, '}'), std::string(100'000, ']')}) {
    EXPECT_EQ(scalarAt(deep, "/0"), kNothing);
    EXPECT_EQ(scalarAt(deep, "/a/a"), kNothing);
    EXPECT_EQ(scalarAt("{\"a\": 1, \"b\": " + deep + "}", "/a"), kNothing);
  }
  // Brackets side by side are not deep.
  std::string wide = "[[]";
  for (int i = 0; i < 100'000; ++i) {
    wide += ",[{}]";
  }
  EXPECT_EQ(scalarAt(wide + ",5]", "/100001"), "5");
}

// The largest body that a source takes by default, in the shapes that cost most.
TEST(JsonPointerTest, LargeBodiesAreReadInOnePass) {
  constexpr size_t kBytes = 25 << 20;
  const auto filled = [&](const std::string& piece) {
    std::string text;
    while (text.size() < kBytes) {
      text += piece;
    }
    return text;
  };
  EXPECT_EQ(scalarAt("{\"x\": \"" + filled("text ") + "\", \"a\": 1}", "/a"), "1");
  EXPECT_EQ(scalarAt("{\"x\": \"" + filled("€") + "\", \"a\": 1}", "/a"), "1");
  EXPECT_EQ(scalarAt("{" + filled("\"a\": {}, ") + "\"a\": {\"b\": 1}}", "/a/b"), "1");
  EXPECT_EQ(scalarAt("{" + filled("\"\\u0061\": [], ") + "\"a\": 2}", "/a"), "2");
  EXPECT_EQ(scalarAt("[" + filled("0,") + "1]", "/999"), "0");
  EXPECT_EQ(scalarAt(filled(" "), "/a"), kNothing);
  EXPECT_EQ(scalarAt(filled("["), "/a"), kNothing);
  EXPECT_EQ(scalarAt("{\"a\": \"" + filled("\\") + "\"}", "/b"), kNothing);
  const Found long_one = scalarAt("{\"a\": \"" + filled("\\u0061") + "\"}", "/a");
  ASSERT_TRUE(long_one.has_value());
  EXPECT_EQ(long_one->find_first_not_of('a'), std::string::npos);
  EXPECT_GE(long_one->size() * 6, kBytes);
}

}  // namespace
}  // namespace forebay
