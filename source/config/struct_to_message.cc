#include "source/config/struct_to_message.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/duration.pb.h"
#include "source/base/strings.h"
#include "source/config/closest.h"
#include "source/config/config_text.h"

namespace forebay {

namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::OneofDescriptor;
using google::protobuf::Reflection;
using google::protobuf::Value;

// JSON numbers are doubles: beyond 2^53 not every whole number is one.
constexpr uint64_t kExactMax = uint64_t{1} << 53;

void fillMessage(const Value& value, Message& message, const std::string& path,
                 ConfigErrors& errors);

// A number, also one written as text: Envoy's YAML makes text of fractions and of whole numbers
// beyond 32 bits.
std::optional<double> numberOf(const Value& value) {
  if (value.kind_case() == Value::kNumberValue) {
    return value.number_value();
  }
  const std::string& text = value.string_value();
  double number = 0;
  // Neither blanks nor words such as `inf`.
  if (value.kind_case() == Value::kStringValue &&
      text.find_first_not_of("0123456789+-.eE") == std::string::npos &&
      absl::SimpleAtod(text, &number)) {
    return number;
  }
  return std::nullopt;
}

std::optional<uint64_t> readWhole(const Value& value, uint64_t max, const std::string& path,
                                  ConfigErrors& errors) {
  const std::optional<double> number = numberOf(value);
  std::string wrong;
  if (!number.has_value() || !(std::trunc(*number) == *number)) {
    wrong = "must be a whole number";
  } else if (*number < 0) {
    wrong = "must not be negative";
  } else if (*number > static_cast<double>(max)) {
    wrong = cat("must be at most ", max);
  } else {
    return static_cast<uint64_t>(*number);
  }
  errors.add(path, cat(wrong, " (got ", valueText(value), ")"));
  return std::nullopt;
}

std::optional<double> readDouble(const Value& value, const std::string& path,
                                 ConfigErrors& errors) {
  const std::optional<double> number = numberOf(value);
  if (number.has_value() && std::isfinite(*number)) {
    return number;
  }
  errors.add(path, cat("must be a number (got ", valueText(value), ")"));
  return std::nullopt;
}

std::optional<std::string> readString(const Value& value, const std::string& path,
                                      ConfigErrors& errors) {
  switch (value.kind_case()) {
    case Value::kStringValue:
      return value.string_value();
    case Value::kNumberValue:
    case Value::kBoolValue:
      // YAML makes numbers and bools of bare words: 404, on.
      errors.add(path, cat("must be a string (got ", valueText(value), "; put it in quotes)"));
      break;
    default:
      errors.add(path, cat("must be a string (got ", kindText(value), ")"));
  }
  return std::nullopt;
}

const google::protobuf::EnumValueDescriptor* readEnum(const Value& value,
                                                      const EnumDescriptor& type,
                                                      const std::string& path,
                                                      ConfigErrors& errors) {
  if (value.kind_case() == Value::kStringValue) {
    if (const auto* known = type.FindValueByName(value.string_value()); known != nullptr) {
      return known;
    }
  }
  std::vector<std::string_view> allowed;
  for (int i = 0; i < type.value_count(); ++i) {
    allowed.push_back(type.value(i)->name());
  }
  errors.add(path, cat("must be one of ", join(allowed, ", "), " (got ", valueText(value), ")"));
  return nullptr;
}

void fillDuration(const Value& value, Message& message, const std::string& path,
                  ConfigErrors& errors) {
  auto& duration = *google::protobuf::DynamicCastToGenerated<google::protobuf::Duration>(&message);
  if (value.kind_case() != Value::kStringValue) {
    errors.add(path,
               cat("must be a duration such as \"30s\" or \"0.5s\" (got ", valueText(value), ")"));
    return;
  }
  const std::optional<absl::Duration> parsed = parseSeconds(value.string_value());
  if (!parsed.has_value()) {
    // Most often somebody wrote `5m`: say what that is in seconds.
    absl::Duration meant;
    std::string hint;
    if (absl::ParseDuration(value.string_value(), &meant) && meant > absl::ZeroDuration() &&
        meant < absl::InfiniteDuration()) {
      hint = cat("; write \"", secondsText(meant), "\"");
    }
    errors.add(path, cat("must be a duration such as \"30s\" or \"0.5s\" (got ", valueText(value),
                         hint, ")"));
    return;
  }
  if (*parsed < absl::ZeroDuration()) {
    errors.add(path, cat("must not be negative (got ", valueText(value), ")"));
    return;
  }
  const int64_t seconds = absl::ToInt64Seconds(*parsed);
  duration.set_seconds(seconds);
  duration.set_nanos(
      static_cast<int32_t>(absl::ToInt64Nanoseconds(*parsed - absl::Seconds(seconds))));
}

// Reads one value and hands it to `set` or `add`, which a field and an element of a list differ in.
class FieldWriter {
public:
  FieldWriter(Message& message, const FieldDescriptor& field)
      : message_(message), reflection_(*message.GetReflection()), field_(field) {}

  void write(const Value& value, const std::string& path, ConfigErrors& errors) {
    switch (field_.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        put(readString(value, path, errors), &Reflection::SetString, &Reflection::AddString);
        return;
      case FieldDescriptor::CPPTYPE_UINT32:
        put(readWhole(value, std::numeric_limits<uint32_t>::max(), path, errors),
            &Reflection::SetUInt32, &Reflection::AddUInt32);
        return;
      case FieldDescriptor::CPPTYPE_UINT64:
        put(readWhole(value, kExactMax, path, errors), &Reflection::SetUInt64,
            &Reflection::AddUInt64);
        return;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        put(readDouble(value, path, errors), &Reflection::SetDouble, &Reflection::AddDouble);
        return;
      case FieldDescriptor::CPPTYPE_ENUM:
        if (const auto* known = readEnum(value, *field_.enum_type(), path, errors)) {
          put(std::optional(known), &Reflection::SetEnum, &Reflection::AddEnum);
        }
        return;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        writeMessage(value, path, errors);
        return;
      default:
        errors.add(path, "Forebay's own mistake: a field of a type that it can't read");
    }
  }

private:
  // An element of a list that is wrong is added all the same: later paths count on the positions.
  template <typename T, typename Set, typename Add>
  void put(std::optional<T> value, Set set, Add add) {
    if (field_.is_repeated()) {
      (reflection_.*add)(&message_, &field_, std::move(value).value_or(T{}));
    } else if (value.has_value()) {
      (reflection_.*set)(&message_, &field_, *std::move(value));
    }
  }

  void writeMessage(const Value& value, const std::string& path, ConfigErrors& errors) {
    Message& inner = field_.is_repeated() ? *reflection_.AddMessage(&message_, &field_)
                                          : *reflection_.MutableMessage(&message_, &field_);
    if (field_.message_type()->full_name() == "google.protobuf.Duration") {
      fillDuration(value, inner, path, errors);
    } else {
      fillMessage(value, inner, path, errors);
    }
  }

  Message& message_;
  const Reflection& reflection_;
  const FieldDescriptor& field_;
};

void fillList(const Value& value, Message& message, const FieldDescriptor& field,
              const std::string& path, ConfigErrors& errors) {
  if (value.kind_case() != Value::kListValue) {
    errors.add(path, cat("must be a list (got ", kindText(value), ")"));
    return;
  }
  const auto& values = value.list_value().values();
  if (values.empty()) {
    errors.noteEmptyList(path);
  }
  FieldWriter writer(message, field);
  for (int i = 0; i < values.size(); ++i) {
    writer.write(values[i], elementPath(path, i), errors);
  }
}

// Sets nothing of a oneof with several members: any choice would be a guess.
std::vector<const OneofDescriptor*> crowdedOneofs(const google::protobuf::Struct& object,
                                                  const Descriptor& type, const std::string& path,
                                                  ConfigErrors& errors) {
  std::vector<const OneofDescriptor*> crowded;
  for (int i = 0; i < type.real_oneof_decl_count(); ++i) {
    const OneofDescriptor& oneof = *type.oneof_decl(i);
    std::vector<std::string_view> known;
    std::vector<std::string_view> given;
    for (int j = 0; j < oneof.field_count(); ++j) {
      const std::string& name = oneof.field(j)->name();
      known.push_back(name);
      const auto found = object.fields().find(name);
      if (found != object.fields().end() && !found->second.has_null_value()) {
        given.push_back(name);
      }
    }
    if (given.size() > 1) {
      crowded.push_back(&oneof);
      errors.addGeneral(path, cat("only one of ", join(known, ", "), " is allowed (got ",
                                  join(given, ", "), ")"));
      for (const std::string_view name : known) {
        errors.excuse(fieldPath(path, name));
      }
    }
  }
  return crowded;
}

void reportUnknown(std::string_view name, const Descriptor& type, const std::string& path,
                   ConfigErrors& errors) {
  std::vector<std::string_view> known;
  for (int i = 0; i < type.field_count(); ++i) {
    known.push_back(type.field(i)->name());
  }
  // Quoted unless it is a plain word: a name may hold dots and worse.
  const bool plain = !name.empty() && name.size() <= 64 &&
                     name.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyz"
                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos;
  const std::string where = fieldPath(path, plain ? std::string(name) : inQuotes(name));
  const std::string_view meant = closest(name, known);
  if (meant.empty()) {
    errors.add(where, cat("unknown field (known here: ", join(known, ", "), ")"));
    return;
  }
  errors.add(where, cat("unknown field (did you mean ", meant, "?)"));
  errors.excuse(fieldPath(path, meant));
}

void reportUnknowns(const google::protobuf::Struct& object, const Descriptor& type,
                    const std::string& path, ConfigErrors& errors) {
  // In order of the name, since the map has none of its own.
  std::set<std::string_view> unknown;
  for (const auto& [name, value] : object.fields()) {
    if (type.FindFieldByName(name) == nullptr) {
      unknown.insert(name);
    }
  }
  for (const std::string_view name : unknown) {
    reportUnknown(name, type, path, errors);
  }
}

void fillMessage(const Value& value, Message& message, const std::string& path,
                 ConfigErrors& errors) {
  if (value.kind_case() != Value::kStructValue) {
    // Never the value: somebody may have put a secret where its source belongs.
    errors.add(path, cat("must be a mapping (got ", kindText(value), ")"));
    return;
  }
  const google::protobuf::Struct& object = value.struct_value();
  const Descriptor& type = *message.GetDescriptor();
  reportUnknowns(object, type, path, errors);
  const std::vector<const OneofDescriptor*> crowded = crowdedOneofs(object, type, path, errors);
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const auto found = object.fields().find(field.name());
    if (found == object.fields().end() || found->second.has_null_value()) {
      continue;
    }
    if (std::find(crowded.begin(), crowded.end(), field.real_containing_oneof()) != crowded.end()) {
      continue;
    }
    const std::string field_path = fieldPath(path, field.name());
    if (field.is_repeated()) {
      fillList(found->second, message, field, field_path, errors);
    } else {
      FieldWriter(message, field).write(found->second, field_path, errors);
    }
  }
}

}  // namespace

void structToMessage(const Value& value, Message& message, ConfigErrors& errors) {
  fillMessage(value, message, "", errors);
}

}  // namespace forebay
