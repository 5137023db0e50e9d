#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace forebay {

// Appends `text`, which may be any bytes, as a JSON string. The result is valid UTF-8 (what is not
// becomes U+FFFD) and safe inside a web page, a script and a terminal: control characters, < > &,
// U+2028 and U+2029 are escaped.
void appendJsonString(std::string_view text, std::string& out);

// Writes compact JSON with the fields in the order of the calls, numbers as numbers. The caller
// keeps the nesting right.
//
//   JsonWriter json;
//   json.beginObject();
//   json.text("name", "billing");
//   json.number("backlog", 3);
//   json.endObject();
class JsonWriter {
public:
  void beginObject() { open('{'); }
  void beginObject(std::string_view key) { openField(key, '{'); }
  void endObject() { close('}'); }
  void beginArray(std::string_view key) { openField(key, '['); }
  void endArray() { close(']'); }

  void text(std::string_view key, std::string_view value) {
    startField(key);
    appendJsonString(value, out_);
  }
  // Left out when empty: the contract has no empty texts, only absent ones.
  void textIfAny(std::string_view key, std::string_view value) {
    if (!value.empty()) {
      text(key, value);
    }
  }
  void number(std::string_view key, std::integral auto value) {
    startField(key);
    absl::StrAppend(&out_, value);
  }
  // A finite one, to six digits.
  void number(std::string_view key, std::floating_point auto value) {
    startField(key);
    absl::StrAppend(&out_, value);
  }
  void boolean(std::string_view key, bool value) {
    startField(key);
    out_.append(value ? "true" : "false");
  }
  // An element of an array.
  void textElement(std::string_view value) {
    separate();
    appendJsonString(value, out_);
  }

  std::string take() && { return std::move(out_); }

private:
  void separate() {
    if (!out_.empty() && out_.back() != '{' && out_.back() != '[' && out_.back() != ':') {
      out_.push_back(',');
    }
  }
  void startField(std::string_view key) {
    separate();
    appendJsonString(key, out_);
    out_.push_back(':');
  }
  void open(char bracket) {
    separate();
    out_.push_back(bracket);
  }
  void openField(std::string_view key, char bracket) {
    startField(key);
    out_.push_back(bracket);
  }
  void close(char bracket) { out_.push_back(bracket); }

  std::string out_;
};

}  // namespace forebay
