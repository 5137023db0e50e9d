#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "google/protobuf/message.h"
#include "source/config/config_errors.h"

namespace forebay {

// One message of the configuration, read field by field by name, so that the value that is checked
// and the path in its error can't be of two fields. A name that the message doesn't have is our
// mistake, and ends the process: tests read every field.
//
// The read functions leave `value`, the default, as it is when the field was left out or was
// already found wrong, and report what is out of bounds. `errors` and `message` must outlive it.
class Section {
public:
  Section(const google::protobuf::Message& message, std::string path, ConfigErrors& errors)
      : message_(message), path_(std::move(path)), errors_(errors) {}

  // Whether the field was given, rightly or wrongly.
  bool has(std::string_view field) const;
  // Whether what the field says, or its default, can be relied on.
  bool isClean(std::string_view field) const { return errors_.isClean(pathOf(field)); }
  bool isCleanThroughout(std::string_view field) const {
    return errors_.isCleanThroughout(pathOf(field));
  }
  bool isEmptyList(std::string_view field) const { return errors_.isEmptyList(pathOf(field)); }
  std::string pathOf(std::string_view field) const { return fieldPath(path_, field); }
  void fail(std::string_view field, std::string_view what) { errors_.add(pathOf(field), what); }

  void readDuration(std::string_view field, absl::Duration min, absl::Duration max,
                    absl::Duration& value);
  void readNumber(std::string_view field, uint32_t min, uint32_t max, uint32_t& value);
  void readNumber(std::string_view field, uint64_t min, uint64_t max, uint64_t& value);
  void readNumber(std::string_view field, double min, double max, double& value);
  // More than zero, at most `max`.
  void readPositive(std::string_view field, absl::Duration max, absl::Duration& value);
  void readPositive(std::string_view field, double max, double& value);
  void readString(std::string_view field, size_t bytes_max, std::string& value);
  // A field without default that was left out is a mistake.
  void require(std::string_view field);
  // readString(), and an empty one is a mistake. Returns whether `value` can be looked at further.
  bool readRequired(std::string_view field, size_t bytes_max, std::string& value);
  // A required string of letters, digits, `_`, `.` and `-`.
  bool readName(std::string_view field, std::string& value);
  std::vector<absl::Duration> readDurations(std::string_view field, absl::Duration min,
                                            absl::Duration max);
  std::vector<std::string> readStrings(std::string_view field) const;
  // The number of the enum's value; that of its first one when left out.
  int readEnum(std::string_view field) const;

  // A message within; one that was left out reads as one with nothing in it.
  Section inner(std::string_view field) const;
  std::vector<Section> elements(std::string_view field) const;

  // Refuses what was given of `fields`: silence would promise what we don't do.
  void refuseUnsupported(std::initializer_list<std::string_view> fields);

private:
  const google::protobuf::FieldDescriptor* find(std::string_view field) const;
  int sizeOf(std::string_view field) const;  // of a list
  // Whether there is a value that is still to be checked.
  bool isReadable(std::string_view field) const { return has(field) && isClean(field); }
  absl::Duration durationOf(std::string_view field) const;
  template <typename T>
  void keepIfWithin(std::string_view field, T got, T min, T max, T& value);
  template <typename T>
  void keepIfPositive(std::string_view field, T got, T max, T& value);

  const google::protobuf::Message& message_;
  std::string path_;
  ConfigErrors& errors_;
};

// "5", "0.5", "30s": a bound or a value in an error.
std::string boundText(uint32_t value);
std::string boundText(uint64_t value);
std::string boundText(double value);
std::string boundText(absl::Duration value);

}  // namespace forebay
