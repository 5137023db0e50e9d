#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "source/base/strings.h"
#include "source/config/config_limits.h"
#include "source/config/config_text.h"
#include "source/config/validators.h"
#include "source/event/json_pointer.h"

namespace forebay {

namespace {

static_assert(limits::kOrderPointerBytesMax <= kJsonDepthMax, "a pointer may name what is found");

// A token of RFC 9110.
bool isToken(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  for (const char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) &&
        kMarks.find(c) == std::string_view::npos) {
      return false;
    }
  }
  return !name.empty();
}

void checkHeader(Section& order_by, const std::string& name) {
  // Envoy makes a pseudo header of `host` too: a record has neither among its headers.
  if (name[0] == ':' || absl::EqualsIgnoreCase(name, "host")) {
    order_by.fail("header", cat("must not be host or a pseudo header (got ", inQuotes(name), ")"));
  } else if (!isToken(name)) {
    order_by.fail("header", cat("must be the name of a header (got ", inQuotes(name), ")"));
  } else if (const std::string lower = absl::AsciiStrToLower(name); lower != name) {
    order_by.fail("header", cat("must be lower case: ", lower, " (got ", inQuotes(name), ")"));
  }
}

void checkPointer(Section& order_by, const std::string& pointer) {
  if (pointer[0] != '/') {
    order_by.fail("json_pointer", cat("must begin with \"/\" (got ", inQuotes(pointer), ")"));
  } else if (!isJsonPointer(pointer)) {
    order_by.fail("json_pointer",
                  cat("must have \"0\" or \"1\" after each \"~\" (got ", inQuotes(pointer), ")"));
  }
}

}  // namespace

std::optional<OrderBy> validateOrderBy(const Section& upstream) {
  if (!upstream.has("order_by")) {
    return std::nullopt;
  }
  OrderBy config;
  Section order_by = upstream.inner("order_by");
  if (order_by.has("header")) {
    if (order_by.readRequired("header", limits::kOrderHeaderBytesMax, config.header)) {
      checkHeader(order_by, config.header);
    }
  } else if (order_by.has("json_pointer")) {
    if (order_by.readRequired("json_pointer", limits::kOrderPointerBytesMax, config.json_pointer)) {
      checkPointer(order_by, config.json_pointer);
    }
  } else if (order_by.isClean("header") && order_by.isClean("json_pointer")) {
    Section(upstream).fail("order_by", "header or json_pointer is required");
  }
  return config;
}

}  // namespace forebay
