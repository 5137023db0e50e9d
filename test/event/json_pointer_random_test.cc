// Random documents, whose answer is known as they are made, and damaged ones, which may have any
// answer but must end with one.

#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "source/base/random.h"
#include "source/base/strings.h"
#include "source/base/utf8.h"
#include "source/event/json_pointer.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

// What the document holds where: the scalars by their pointers.
using Scalars = std::map<std::string, std::string>;

// Writes JSON, and keeps what a reader with a tree would find in it.
class Writer {
public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  size_t below(size_t bound) { return random_.next() % bound; }

  std::string document() {
    scalars_.clear();
    places_.clear();
    std::string json = blank();
    writeValue("", 0, json);
    return json + blank();
  }

  const Scalars& scalars() const { return scalars_; }
  // Every pointer that some value had, even one that a later one replaced.
  const std::vector<std::string>& places() const { return places_; }

private:
  // As it is, and as JSON may write it: the same text in two forms.
  struct Text {
    std::string plain;
    std::string quoted;
  };

  std::string blank() {
    static const char* const kBlanks[] = {"", "", "", " ", "\n", "\t\r ", "   "};
    return kBlanks[below(std::size(kBlanks))];
  }

  // Few different names, so that some come twice.
  Text text() {
    static const std::pair<const char*, std::vector<const char*>> kPieces[] = {
        {"a", {"a", "\\u0061"}},
        {"b", {"b"}},
        {"0", {"0", "\\u0030"}},
        {"1", {"1"}},
        {"/", {"/", "\\/"}},
        {"~", {"~", "\\u007E"}},
        {"\"", {"\\\"", "\\u0022"}},
        {"\\", {"\\\\"}},
        {"\n", {"\\n", "\\u000a"}},
        {"é", {"é", "\\u00e9"}},
        {"€", {"€", "\\u20AC"}},
        {"😀", {"😀", "\\ud83d\\uDE00"}},
        {"[", {"["}},
        {"}", {"}"}},
    };
    Text result;
    for (size_t length = below(4); length > 0; --length) {
      const auto& [plain, forms] = kPieces[below(below(2) == 0 ? 4 : std::size(kPieces))];
      result.plain += plain;
      result.quoted += forms[below(forms.size())];
    }
    result.quoted = "\"" + result.quoted + "\"";
    return result;
  }

  static std::string token(const std::string& name) {
    std::string escaped = "/";
    for (const char c : name) {
      escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
    return escaped;
  }

  void forget(const std::string& pointer) {
    scalars_.erase(pointer);
    const std::string below_it = pointer + "/";
    auto first = scalars_.lower_bound(below_it);
    while (first != scalars_.end() && first->first.starts_with(below_it)) {
      first = scalars_.erase(first);
    }
  }

  void writeValue(const std::string& pointer, int depth, std::string& json) {
    places_.push_back(pointer);
    switch (below(depth >= 5 ? 3 : 6)) {
      case 0: {
        const Text value = text();
        json += value.quoted;
        scalars_[pointer] = value.plain;
        return;
      }
      case 1: {
        static const char* const kWords[] = {"true", "false", "0", "-1", "10.50", "1e9", "7E-2"};
        const char* const word = kWords[below(std::size(kWords))];
        json += word;
        scalars_[pointer] = word;
        return;
      }
      case 2:
        json += "null";
        return;
      case 3:
        writeArray(pointer, depth, json);
        return;
      default:
        writeObject(pointer, depth, json);
    }
  }

  void writeArray(const std::string& pointer, int depth, std::string& json) {
    json += "[" + blank();
    const size_t count = below(5);
    for (size_t i = 0; i < count; ++i) {
      json += i == 0 ? "" : "," + blank();
      writeValue(cat(pointer, "/", i), depth + 1, json);
      json += blank();
    }
    json += "]";
  }

  void writeObject(const std::string& pointer, int depth, std::string& json) {
    json += "{" + blank();
    const size_t count = below(5);
    for (size_t i = 0; i < count; ++i) {
      const Text name = text();
      const std::string place = pointer + token(name.plain);
      forget(place);
      json += (i == 0 ? "" : "," + blank()) + name.quoted + blank() + ":" + blank();
      writeValue(place, depth + 1, json);
      json += blank();
    }
    json += "}";
  }

  SeededRandom random_;
  Scalars scalars_;
  std::vector<std::string> places_;
};

std::string expectedAt(const Scalars& scalars, const std::string& pointer) {
  const auto found = scalars.find(pointer);
  return found == scalars.end() ? "(nothing)" : "found " + found->second;
}

std::string actualAt(const std::string& json, const std::string& pointer) {
  const std::optional<std::string> found = scalarAt(json, pointer);
  return found.has_value() ? "found " + *found : "(nothing)";
}

// The one pass finds what a tree would hold, at every place that was written and beside it.
TEST(JsonPointerRandomTest, FindsWhatATreeWouldHold) {
  Writer writer(testSeed());
  size_t found = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string json = writer.document();
    std::vector<std::string> pointers = writer.places();
    for (const std::string& place : writer.places()) {
      pointers.push_back(place + "/0");
      pointers.push_back(place + "/");
    }
    for (const std::string& pointer : pointers) {
      ASSERT_TRUE(isJsonPointer(pointer)) << pointer;
      ASSERT_EQ(actualAt(json, pointer), expectedAt(writer.scalars(), pointer))
          << json << "\nat \"" << pointer << "\"";
      found += writer.scalars().contains(pointer) ? 1 : 0;
    }
  }
  EXPECT_GT(found, 10'000u);
}

// Damage anywhere: an answer all the same, in valid UTF-8, and never longer than the document.
TEST(JsonPointerRandomTest, DamagedDocumentsAreAnswered) {
  Writer writer(testSeed());
  for (int round = 0; round < 50'000; ++round) {
    std::string json = writer.document();
    for (size_t damages = 1 + writer.below(3); damages > 0 && !json.empty(); --damages) {
      const size_t at = writer.below(json.size());
      switch (writer.below(4)) {
        case 0:
          json[at] = static_cast<char>(writer.below(256));
          break;
        case 1:
          json.erase(at, 1 + writer.below(4));
          break;
        case 2:
          json.insert(at, 1, "{}[]\",:\\u0e-"[writer.below(12)]);
          break;
        default:
          json.resize(at);
      }
    }
    // A copy of its own size, so that the sanitizer sees a step beyond.
    const std::vector<char> exact(json.begin(), json.end());
    const std::string& pointer = writer.places()[writer.below(writer.places().size())];
    const std::optional<std::string> found = scalarAt({exact.data(), exact.size()}, pointer);
    if (!found.has_value()) {
      continue;
    }
    ASSERT_LE(found->size(), json.size());
    for (std::string_view rest = *found; !rest.empty();) {
      const Utf8Symbol symbol = firstUtf8Symbol(rest);
      ASSERT_TRUE(symbol.valid) << json << "\nat \"" << pointer << "\"";
      rest.remove_prefix(symbol.length);
    }
  }
}

}  // namespace
}  // namespace forebay
