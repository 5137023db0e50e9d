#include "source/cli/yaml_value.h"

#include <cmath>
#include <string>

#include "source/base/log.h"
#include "source/base/strings.h"
#include "yaml-cpp/yaml.h"

namespace forebay {
namespace {

using google::protobuf::Value;

std::string at(const YAML::Mark& mark) {
  return mark.is_null() ? "" : cat("line ", mark.line + 1, ", column ", mark.column + 1, ": ");
}

// Counts what it makes: an alias is a reference in yaml-cpp and a copy here, so a small file can
// stand for a huge one, or for one that contains itself.
class Converter {
public:
  absl::Status convert(const YAML::Node& node, size_t depth, Value& value) {
    if (depth > kYamlDepthMax) {
      return wrong(node, cat("nested deeper than ", kYamlDepthMax));
    }
    if (++nodes_ > kYamlNodesMax) {
      return wrong(node, cat("more than ", kYamlNodesMax, " values, aliases followed"));
    }
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        return convertScalar(node, value);
      case YAML::NodeType::Sequence:
        return convertList(node, depth, value);
      case YAML::NodeType::Map:
        return convertMap(node, depth, value);
      default:
        value.set_null_value(google::protobuf::NULL_VALUE);
        return absl::OkStatus();
    }
  }

private:
  static absl::Status wrong(const YAML::Node& node, std::string_view what) {
    return absl::InvalidArgumentError(cat(at(node.Mark()), what));
  }

  absl::Status count(const YAML::Node& node, std::string_view text) {
    bytes_ += text.size();
    return bytes_ > kYamlBytesMax
               ? wrong(node, cat("more than ", kYamlBytesMax, " bytes of text, aliases followed"))
               : absl::OkStatus();
  }

  absl::Status convertScalar(const YAML::Node& node, Value& value) {
    bool boolean = false;
    int64_t whole = 0;
    double number = 0;
    if (node.Tag() == "!") {  // yaml-cpp's mark of what stood in quotes
      value.set_string_value(node.Scalar());
    } else if (YAML::convert<bool>::decode(node, boolean)) {
      value.set_bool_value(boolean);
    } else if (YAML::convert<int64_t>::decode(node, whole)) {
      value.set_number_value(static_cast<double>(whole));
    } else if (YAML::convert<double>::decode(node, number) && std::isfinite(number)) {
      value.set_number_value(number);
    } else {
      value.set_string_value(node.Scalar());
    }
    return count(node, node.Scalar());
  }

  absl::Status convertList(const YAML::Node& node, size_t depth, Value& value) {
    auto& values = *value.mutable_list_value()->mutable_values();
    for (const YAML::Node& element : node) {
      if (absl::Status status = convert(element, depth + 1, *values.Add()); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  absl::Status convertMap(const YAML::Node& node, size_t depth, Value& value) {
    auto& fields = *value.mutable_struct_value()->mutable_fields();
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) {
        return wrong(entry.first, "a key that is no plain word");
      }
      const std::string& key = entry.first.Scalar();
      if (absl::Status status = count(entry.first, key); !status.ok()) {
        return status;
      }
      if (fields.contains(key)) {
        return wrong(entry.first, cat("\"", printable(key, 64), "\" is given twice"));
      }
      if (absl::Status status = convert(entry.second, depth + 1, fields[key]); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  size_t nodes_ = 0;
  size_t bytes_ = 0;
};

}  // namespace

absl::StatusOr<Value> parseYaml(std::string_view text) {
  if (text.size() > kYamlBytesMax) {
    return absl::InvalidArgumentError(cat("larger than ", kYamlBytesMax, " bytes"));
  }
  // yaml-cpp speaks in exceptions; they end here.
  try {
    Value value;
    if (absl::Status status = Converter().convert(YAML::Load(std::string(text)), 1, value);
        !status.ok()) {
      return status;
    }
    return value;
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(cat(at(error.mark), printable(error.msg)));
  }
}

}  // namespace forebay
