#include "source/admin/json_writer.h"

#include "gtest/gtest.h"

namespace forebay {
namespace {

std::string jsonString(std::string_view text) {
  std::string out;
  appendJsonString(text, out);
  return out;
}

TEST(JsonWriterTest, FieldsComeInTheOrderOfTheCalls) {
  JsonWriter json;
  json.beginObject();
  json.text("b", "x");
  json.number("a", uint64_t{18446744073709551615u});
  json.number("n", int64_t{-1});
  json.boolean("t", true);
  json.textIfAny("left_out", "");
  json.beginObject("o");
  json.endObject();
  json.beginArray("l");
  json.textElement("1");
  json.textElement("2");
  json.beginObject();
  json.boolean("f", false);
  json.endObject();
  json.endArray();
  json.endObject();
  EXPECT_EQ(
      std::move(json).take(),
      R"({"b":"x","a":18446744073709551615,"n":-1,"t":true,"o":{},"l":["1","2",{"f":false}]})");
}

TEST(JsonWriterTest, WhatEndsAScriptOrALineIsEscaped) {
  EXPECT_EQ(jsonString("</script>&\"\\"), R"("\u003c/script\u003e\u0026\"\\")");
  EXPECT_EQ(jsonString("a\nb\rc\td"), R"("a\nb\rc\td")");
  EXPECT_EQ(jsonString(std::string_view("\0\x01\x1b[31m\x7f", 8)),
            R"("\u0000\u0001\u001b[31m\u007f")");
  EXPECT_EQ(jsonString("\u2028\u2029\u0085"), R"("\u2028\u2029\u0085")");
}

TEST(JsonWriterTest, ValidUtf8StaysAsItIs) {
  EXPECT_EQ(jsonString("zażółć 漢字 😀 \uFFFD"), "\"zażółć 漢字 😀 \uFFFD\"");
  EXPECT_EQ(jsonString("\xF4\x8F\xBF\xBF"), "\"\xF4\x8F\xBF\xBF\"");
  EXPECT_EQ(jsonString("\xED\x9F\xBF"), "\"\xED\x9F\xBF\"");
}

// Each broken sequence is one U+FFFD, and what follows is read as it is.
TEST(JsonWriterTest, InvalidUtf8IsReplaced) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"a\xFFz", "\"a\uFFFDz\""},
      {"\x80\xBF", "\"\uFFFD\uFFFD\""},
      {"\xC0\xAF", "\"\uFFFD\uFFFD\""},            // overlong /
      {"\xC1\xBF", "\"\uFFFD\uFFFD\""},            // overlong
      {"\xE0\x80\xAF", "\"\uFFFD\uFFFD\uFFFD\""},  // overlong
      {"\xF0\x80\x80\xAF", "\"\uFFFD\uFFFD\uFFFD\uFFFD\""},
      {"\xED\xA0\x80", "\"\uFFFD\uFFFD\uFFFD\""},            // a surrogate
      {"\xF4\x90\x80\x80", "\"\uFFFD\uFFFD\uFFFD\uFFFD\""},  // beyond U+10FFFF
      {"\xF5\x80", "\"\uFFFD\uFFFD\""},
      {"\xC3", "\"\uFFFD\""},  // cut short
      {"\xE2\x82", "\"\uFFFD\""},
      {"\xF0\x9F\x98", "\"\uFFFD\""},
      {"\xE2\x82\"", "\"\uFFFD\\\"\""},  // a quote does not hide in it
      {"\xC3<", "\"\uFFFD\\u003c\""},
      {"\xE2\x82\xE2\x82\xAC", "\"\uFFFD€\""},
  };
  for (const auto& [bytes, expected] : cases) {
    EXPECT_EQ(jsonString(bytes), expected);
  }
}

}  // namespace
}  // namespace forebay
