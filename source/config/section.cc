#include "source/config/section.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/duration.pb.h"
#include "source/base/limits.h"
#include "source/base/strings.h"
#include "source/config/config_text.h"

namespace forebay {

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

absl::Duration toDuration(const Message& message) {
  const auto& duration =
      *google::protobuf::DynamicCastToGenerated<google::protobuf::Duration>(&message);
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

bool isNameCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
}

}  // namespace

const FieldDescriptor* Section::find(std::string_view field) const {
  const FieldDescriptor* found = message_.GetDescriptor()->FindFieldByName(std::string(field));
  if (found == nullptr) {
    std::fprintf(stderr, "%s has no field %s\n", message_.GetTypeName().c_str(),
                 std::string(field).c_str());
    std::abort();
  }
  return found;
}

int Section::sizeOf(std::string_view field) const {
  return message_.GetReflection()->FieldSize(message_, find(field));
}

bool Section::has(std::string_view field) const {
  return find(field)->is_repeated() ? sizeOf(field) > 0
                                    : message_.GetReflection()->HasField(message_, find(field));
}

template <typename T>
void Section::keepIfWithin(std::string_view field, T got, T min, T max, T& value) {
  if (got >= min && got <= max) {
    value = got;
    return;
  }
  fail(field,
       cat("must be from ", boundText(min), " to ", boundText(max), " (got ", boundText(got), ")"));
}

template <typename T>
void Section::keepIfPositive(std::string_view field, T got, T max, T& value) {
  if (got > T{} && got <= max) {
    value = got;
    return;
  }
  fail(field, cat("must be more than ", boundText(T{}), " and at most ", boundText(max), " (got ",
                  boundText(got), ")"));
}

absl::Duration Section::durationOf(std::string_view field) const {
  return toDuration(message_.GetReflection()->GetMessage(message_, find(field)));
}

void Section::readDuration(std::string_view field, absl::Duration min, absl::Duration max,
                           absl::Duration& value) {
  if (isReadable(field)) {
    keepIfWithin(field, durationOf(field), min, max, value);
  }
}

void Section::readPositive(std::string_view field, absl::Duration max, absl::Duration& value) {
  if (isReadable(field)) {
    keepIfPositive(field, durationOf(field), max, value);
  }
}

void Section::readPositive(std::string_view field, double max, double& value) {
  if (isReadable(field)) {
    keepIfPositive(field, message_.GetReflection()->GetDouble(message_, find(field)), max, value);
  }
}

void Section::readNumber(std::string_view field, uint32_t min, uint32_t max, uint32_t& value) {
  if (isReadable(field)) {
    keepIfWithin(field, message_.GetReflection()->GetUInt32(message_, find(field)), min, max,
                 value);
  }
}

void Section::readNumber(std::string_view field, uint64_t min, uint64_t max, uint64_t& value) {
  if (isReadable(field)) {
    keepIfWithin(field, message_.GetReflection()->GetUInt64(message_, find(field)), min, max,
                 value);
  }
}

void Section::readNumber(std::string_view field, double min, double max, double& value) {
  if (isReadable(field)) {
    keepIfWithin(field, message_.GetReflection()->GetDouble(message_, find(field)), min, max,
                 value);
  }
}

void Section::readString(std::string_view field, size_t bytes_max, std::string& value) {
  if (!isReadable(field)) {
    return;
  }
  std::string got = message_.GetReflection()->GetString(message_, find(field));
  if (got.size() > bytes_max) {
    fail(field, cat("must be at most ", bytes_max, " bytes long (got ", got.size(), ")"));
    return;
  }
  value = std::move(got);
}

void Section::require(std::string_view field) {
  if (!has(field) && isClean(field)) {
    fail(field, "is required");
  }
}

bool Section::readRequired(std::string_view field, size_t bytes_max, std::string& value) {
  readString(field, bytes_max, value);
  if (!isClean(field)) {
    return false;
  }
  if (value.empty()) {
    fail(field, "is required");
    return false;
  }
  return true;
}

bool Section::readName(std::string_view field, std::string& value) {
  if (!readRequired(field, limits::kNameBytesMax, value)) {
    return false;
  }
  for (const char c : value) {
    if (!isNameCharacter(c)) {
      fail(field, cat("may only hold letters, digits, \"_\", \".\" and \"-\" (got ",
                      inQuotes(value), ")"));
      return false;
    }
  }
  return true;
}

std::vector<absl::Duration> Section::readDurations(std::string_view field, absl::Duration min,
                                                   absl::Duration max) {
  std::vector<absl::Duration> values(sizeOf(field));
  for (int i = 0; i < sizeOf(field); ++i) {
    const std::string element = elementPath(field, i);
    if (isClean(element)) {
      const Message& got = message_.GetReflection()->GetRepeatedMessage(message_, find(field), i);
      keepIfWithin(element, toDuration(got), min, max, values[i]);
    }
  }
  return values;
}

std::vector<std::string> Section::readStrings(std::string_view field) const {
  std::vector<std::string> values;
  for (int i = 0; i < sizeOf(field); ++i) {
    values.push_back(message_.GetReflection()->GetRepeatedString(message_, find(field), i));
  }
  return values;
}

int Section::readEnum(std::string_view field) const {
  return message_.GetReflection()->GetEnumValue(message_, find(field));
}

Section Section::inner(std::string_view field) const {
  return Section(message_.GetReflection()->GetMessage(message_, find(field)), pathOf(field),
                 errors_);
}

std::vector<Section> Section::elements(std::string_view field) const {
  std::vector<Section> sections;
  for (int i = 0; i < sizeOf(field); ++i) {
    sections.emplace_back(message_.GetReflection()->GetRepeatedMessage(message_, find(field), i),
                          elementPath(pathOf(field), i), errors_);
  }
  return sections;
}

void Section::refuseUnsupported(std::initializer_list<std::string_view> fields) {
  for (const std::string_view field : fields) {
    if (has(field)) {
      fail(field, "not supported yet");
    }
  }
}

std::string boundText(uint32_t value) { return cat(value); }
std::string boundText(uint64_t value) { return cat(value); }
std::string boundText(double value) { return numberText(value); }
std::string boundText(absl::Duration value) { return secondsText(value); }

}  // namespace forebay
