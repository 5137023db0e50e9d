#include "source/cli/envoy_config.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/util/json_util.h"
#include "source/base/log.h"
#include "source/base/strings.h"
#include "source/cli/yaml_value.h"

namespace forebay {
namespace {

using google::protobuf::Value;

constexpr std::string_view kExtensionType = ".DynamicModuleBootstrapExtension";
constexpr std::string_view kLookedFor =
    "an Envoy bootstrap with Forebay's extension (bootstrap_extensions[].typed_config of type "
    "DynamicModuleBootstrapExtension with extension_name: forebay), or Forebay's own part "
    "(store, upstreams)";
constexpr size_t kKeysTold = 8;

// Envoy reads every field by either of its names.
std::string camelCase(std::string_view name) {
  std::string camel;
  bool upper = false;
  for (const char c : name) {
    if (c == '_') {
      upper = true;
    } else {
      camel.push_back(upper ? absl::ascii_toupper(c) : c);
      upper = false;
    }
  }
  return camel;
}

// Null when there is none; `value` may be of any kind.
const Value* find(const Value& value, std::string_view name) {
  const auto& fields = value.struct_value().fields();
  auto found = fields.find(std::string(name));
  if (found == fields.end()) {
    found = fields.find(camelCase(name));
  }
  return found == fields.end() ? nullptr : &found->second;
}

std::string textOf(const Value* value) { return value == nullptr ? "" : value->string_value(); }

absl::StatusOr<EngineConfig> parsePart(const Value& part) {
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(part, &json);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        cat("can't be written as JSON: ", printable(std::string(status.message()))));
  }
  return parseEngineConfig(json);
}

// What Envoy hands to the module: a Struct as JSON, text as it is.
absl::StatusOr<EngineConfig> parseExtensionConfig(const Value* config) {
  const Value* const value = config == nullptr ? nullptr : find(*config, "value");
  if (value == nullptr) {
    return absl::InvalidArgumentError(
        "Forebay's extension has no extension_config: wants {\"@type\": "
        "type.googleapis.com/google.protobuf.Struct, value: {store: …, upstreams: …}}");
  }
  return value->kind_case() == Value::kStringValue ? parseEngineConfig(value->string_value())
                                                   : parsePart(*value);
}

std::string keysOf(const Value& document) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : document.struct_value().fields()) {
    keys.push_back(printable(key, 32));
  }
  std::sort(keys.begin(), keys.end());
  const size_t told = std::min(keys.size(), kKeysTold);
  std::string text;
  for (size_t i = 0; i < told; ++i) {
    text.append(cat(i == 0 ? "" : ", ", keys[i]));
  }
  return keys.size() > told ? cat(text, ", …") : text;
}

absl::Status notFound(const Value& document) {
  std::string found;
  switch (document.kind_case()) {
    case Value::kStructValue:
      found = document.struct_value().fields().empty() ? "an empty mapping" : keysOf(document);
      break;
    case Value::kListValue:
      found = "a list";
      break;
    case Value::kNullValue:
      found = "nothing";
      break;
    default:
      found = "a single value";
  }
  return absl::NotFoundError(cat("looked for ", kLookedFor, "; found ", found));
}

}  // namespace

absl::StatusOr<EngineConfig> readEngineConfig(std::string_view text) {
  const absl::StatusOr<Value> document = parseYaml(text);
  if (!document.ok()) {
    return document.status();
  }
  const Value* const extensions = find(*document, "bootstrap_extensions");
  if (extensions != nullptr) {
    for (const Value& extension : extensions->list_value().values()) {
      const Value* const typed = find(extension, "typed_config");
      if (typed != nullptr &&
          absl::EndsWith(textOf(find(*typed, "@type")), toAbsl(kExtensionType)) &&
          textOf(find(*typed, "extension_name")) == "forebay") {
        return parseExtensionConfig(find(*typed, "extension_config"));
      }
    }
  }
  if (find(*document, "upstreams") != nullptr || find(*document, "store") != nullptr) {
    return parsePart(*document);
  }
  return notFound(*document);
}

absl::StatusOr<EngineConfig> readEngineConfigFile(const std::string& path) {
  const std::string shown = printable(path);
  std::ifstream file(path, std::ios::binary);
  std::string text(kYamlBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad() || (file.fail() && !file.eof())) {
    return absl::NotFoundError(cat(shown, ": can't be read"));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  absl::StatusOr<EngineConfig> config = readEngineConfig(text);
  if (config.ok()) {
    return config;
  }
  std::string lines;
  for (const absl::string_view line : absl::StrSplit(config.status().message(), '\n')) {
    lines.append(cat(lines.empty() ? "" : "\n", shown, ": ", toStd(line)));
  }
  return absl::Status(config.status().code(), lines);
}

}  // namespace forebay
