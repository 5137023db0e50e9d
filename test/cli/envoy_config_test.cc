#include "source/cli/envoy_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "source/base/strings.h"
#include "source/cli/yaml_value.h"

namespace forebay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string messageOf(const absl::Status& status) { return std::string(status.message()); }

std::string errorOf(std::string_view text) {
  const absl::StatusOr<EngineConfig> config = readEngineConfig(text);
  return config.ok() ? "no error" : messageOf(config.status());
}

constexpr std::string_view kPart = R"(
store: {path: /var/lib/forebay, size_max_bytes: 10737418240}
upstreams:
- name: app
  cluster: "123"
  timeout: 5s
  concurrency_max: 0x10
  retry: {jitter: {kind: PROPORTIONAL, ratio: 0.25}, attempts_max: 8}
)";

void expectPart(const absl::StatusOr<EngineConfig>& config) {
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->store.path, "/var/lib/forebay");
  EXPECT_EQ(config->store.size_max_bytes, 10737418240);
  ASSERT_EQ(config->upstreams.size(), 1);
  EXPECT_EQ(config->upstreams[0].cluster, "123");
  EXPECT_EQ(config->upstreams[0].timeout, absl::Seconds(5));
  EXPECT_EQ(config->upstreams[0].concurrency_max, 16);
  EXPECT_EQ(config->upstreams[0].retry.jitter.kind, JitterKind::Proportional);
  EXPECT_EQ(config->upstreams[0].retry.jitter.ratio, 0.25);
  EXPECT_EQ(config->upstreams[0].retry.attempts_max, 8);
}

// Forebay's own part may stand alone.
TEST(EnvoyConfigTest, ReadsThePartAlone) { expectPart(readEngineConfig(kPart)); }

constexpr std::string_view kExtension = R"(
- name: another
  typed_config: {"@type": type.googleapis.com/google.protobuf.Empty}
- name: envoy.bootstrap.dynamic_modules
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.bootstrap.dynamic_modules.v3.DynamicModuleBootstrapExtension
    extension_name: somebody_else
    extension_config: {"@type": type.googleapis.com/google.protobuf.Struct, value: {store: 7}}
- name: envoy.bootstrap.dynamic_modules
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.bootstrap.dynamic_modules.v3.DynamicModuleBootstrapExtension
    dynamic_module_config: {name: forebay, do_not_close: true}
    extension_name: forebay
    extension_config:
      "@type": type.googleapis.com/google.protobuf.Struct
      value:
        store: {path: /var/lib/forebay, size_max_bytes: 10737418240}
        upstreams: [{name: app, cluster: "123", timeout: 5s, concurrency_max: 16,
                     retry: {jitter: {kind: PROPORTIONAL, ratio: 0.25}, attempts_max: 8}}]
)";

// In a bootstrap the extension is found by its type and name, among others.
TEST(EnvoyConfigTest, FindsTheExtensionInABootstrap) {
  expectPart(readEngineConfig(
      cat("admin: {}\nbootstrap_extensions:", kExtension, "static_resources: {listeners: []}\n")));
}

// The same bootstrap as JSON, indented with tabs, and with the fields' other names.
TEST(EnvoyConfigTest, ReadsJson) {
  expectPart(readEngineConfig(R"({
	"bootstrapExtensions": [{
		"name": "envoy.bootstrap.dynamic_modules",
		"typedConfig": {
			"@type": "type.googleapis.com/envoy.extensions.bootstrap.dynamic_modules.v3.DynamicModuleBootstrapExtension",
			"extensionName": "forebay",
			"extensionConfig": {
				"@type": "type.googleapis.com/google.protobuf.Struct",
				"value": {
					"store": {"path": "/var/lib/forebay", "size_max_bytes": 10737418240},
					"upstreams": [{"name": "app", "cluster": "123", "timeout": "5s", "concurrency_max": 16,
						"retry": {"jitter": {"kind": "PROPORTIONAL", "ratio": 0.25}, "attempts_max": 8}}]
				}
			}
		}
	}]
})"));
}

// What Envoy takes as text it hands over as text.
TEST(EnvoyConfigTest, ReadsAStringValue) {
  expectPart(readEngineConfig(
      R"({"bootstrap_extensions": [{"typed_config": {"@type": "x/y.DynamicModuleBootstrapExtension",
         "extension_name": "forebay", "extension_config": {"@type": "x/google.protobuf.StringValue",
         "value": "{\"store\": {\"path\": \"/var/lib/forebay\", \"size_max_bytes\": 10737418240}, \"upstreams\": [{\"name\": \"app\", \"cluster\": \"123\", \"timeout\": \"5s\", \"concurrency_max\": 16, \"retry\": {\"jitter\": {\"kind\": \"PROPORTIONAL\", \"ratio\": 0.25}, \"attempts_max\": 8}}]}"}}}]})"));
}

// A file that is neither says what was looked for and what was found instead.
TEST(EnvoyConfigTest, SaysWhatWasLookedFor) {
  const std::string looked =
      "looked for an Envoy bootstrap with Forebay's extension (bootstrap_extensions[].typed_config";
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "found nothing"},
      {"{}", "found an empty mapping"},
      {"[1, 2]", "found a list"},
      {"hello", "found a single value"},
      {"static_resources: {}\nadmin: {}", "found admin, static_resources"},
      {"bootstrap_extensions: []", "found bootstrap_extensions"},
      {"bootstrap_extensions: 7", "found bootstrap_extensions"},
      {"bootstrap_extensions: [7, {typed_config: 8}]", "found bootstrap_extensions"},
      {"retry: {}\na\x1b[31m: 1", "found a\\x1b[31m, retry"},
      {"{a: , b: , c: , d: , e: , f: , g: , h: , i: }", "found a, b, c, d, e, f, g, h, …"},
  };
  for (const auto& [text, found] : cases) {
    EXPECT_THAT(errorOf(text), AllOf(StartsWith(looked), HasSubstr(found))) << text;
  }
}

TEST(EnvoyConfigTest, SaysThatTheExtensionHasNoConfig) {
  EXPECT_THAT(errorOf("bootstrap_extensions: [{typed_config: {'@type': "
                      "x.DynamicModuleBootstrapExtension, extension_name: forebay}}]"),
              HasSubstr("has no extension_config"));
}

// Mistakes are those of the real parser: field and value, all of them.
TEST(EnvoyConfigTest, NamesFieldAndValue) {
  EXPECT_EQ(
      errorOf("store: {path: data}\n"
              "upstreams:\n"
              "- {name: app, cluster: app, timeout: 5m, concurrency_max: four}\n"
              "- {name: 7, cluster: on, retry: {attempts_max: 1.5, jitter: {ratio: .inf}}}\n"),
      "upstreams[0].timeout: must be a duration such as \"30s\" or \"0.5s\" (got \"5m\"; write "
      "\"300s\")\n"
      "upstreams[0].concurrency_max: must be a whole number (got \"four\")\n"
      "upstreams[1].name: must be a string (got 7; put it in quotes)\n"
      "upstreams[1].cluster: must be a string (got true; put it in quotes)\n"
      "upstreams[1].retry.jitter.ratio: must be a number (got \".inf\")\n"
      "upstreams[1].retry.attempts_max: must be a whole number (got 1.5)\n"
      "store.path: must be absolute (got \"data\")");
}

// Text that is no YAML is told with its place.
TEST(EnvoyConfigTest, NamesThePlaceOfBrokenYaml) {
  EXPECT_THAT(errorOf("store:\n  path: [1, 2\n"), HasSubstr("line "));
  EXPECT_THAT(errorOf("a: 1\na: 2\n"), StartsWith("line 2, column 1: \"a\" is given twice"));
  EXPECT_THAT(errorOf("? [a, b]\n: 1\n"), HasSubstr("a key that is no plain word"));
  EXPECT_THAT(errorOf("store: *nobody\n"), HasSubstr("line 1, column 8: "));
}

// Nesting has an end, whether yaml-cpp finds it first or we do.
TEST(EnvoyConfigTest, RefusesDeepNesting) {
  EXPECT_THAT(errorOf(std::string(kYamlDepthMax + 1, '[') + std::string(kYamlDepthMax + 1, ']')),
              HasSubstr("nested deeper than 100"));
  EXPECT_NE(errorOf(std::string(1'000'000, '[')), "no error");
  EXPECT_NE(errorOf(std::string(1'000'000, '{')), "no error");
  std::string steps;
  for (int i = 0; i < 1000; ++i) {
    steps.append(std::string(i, ' ')).append("a:\n");
  }
  EXPECT_NE(errorOf(steps), "no error");
}

// A few lines of aliases can stand for billions of values, a mebibyte a million times, or for a
// list that contains itself.
TEST(EnvoyConfigTest, RefusesAliasBombs) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb.append(cat("a", i, ": &a", i, " ["));
    for (int j = 0; j < 10; ++j) {
      bomb.append(cat(j == 0 ? "" : ", ", "*a", i - 1));
    }
    bomb.append("]\n");
  }
  EXPECT_THAT(errorOf(bomb), HasSubstr("more than 200000 values, aliases followed"));

  std::string heavy = cat("text: &t ", std::string(1 << 20, 'x'), "\nlist: [");
  for (int i = 0; i < 1000; ++i) {
    heavy.append("*t, ");
  }
  EXPECT_THAT(errorOf(heavy.append("]\n")), HasSubstr("bytes of text, aliases followed"));

  EXPECT_THAT(errorOf("a: &a [*a]\n"), HasSubstr("nested deeper than 100"));
}

TEST(EnvoyConfigTest, RefusesWhatIsTooLarge) {
  EXPECT_THAT(errorOf(std::string(kYamlBytesMax + 1, ' ')), HasSubstr("larger than"));
}

// Bytes that are no UTF-8 are an error or text, never a crash.
TEST(EnvoyConfigTest, SurvivesBrokenBytes) {
  EXPECT_NE(errorOf("store: {path: \"/\xff\xfe\"}\nupstreams: [{name: \"\xc3\"}]\n"), "no error");
  EXPECT_NE(errorOf(std::string_view("store: \0", 8)), "no error");
}

TEST(EnvoyConfigTest, AFileIsNamedInEveryLine) {
  const std::string path = cat(::testing::TempDir(), "/part.yaml");
  std::ofstream(path) << kPart;
  expectPart(readEngineConfigFile(path));
  std::ofstream(path) << "store: {path: data}\nupstreams: [{name: app, cluster: app, timeout: 5}]";
  const absl::Status status = readEngineConfigFile(path).status();
  EXPECT_THAT(messageOf(status), AllOf(StartsWith(cat(path, ": upstreams[0].timeout: ")),
                                       HasSubstr(cat("\n", path, ": store.path: "))));
  EXPECT_THAT(messageOf(readEngineConfigFile("/nonexistent/x").status()),
              "/nonexistent/x: can't be read");
  EXPECT_THAT(messageOf(readEngineConfigFile(::testing::TempDir()).status()),
              HasSubstr("can't be read"));
}

}  // namespace
}  // namespace forebay
