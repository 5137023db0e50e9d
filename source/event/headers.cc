#include "source/event/headers.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "source/base/strings.h"

namespace forebay {
namespace {

constexpr std::string_view kNeverForwarded[] = {
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "trailer",
    "transfer-encoding",
    "upgrade",
};

constexpr std::string_view kSecret[] = {
    "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "x-gitlab-token",
};

bool contains(absl::Span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

ForwardedHeaders::ForwardedHeaders(const v1::EventRecord& record) {
  for (const v1::Header& header : record.headers()) {
    if (header.name() != "connection") {
      continue;
    }
    for (const absl::string_view token : absl::StrSplit(header.value(), ',')) {
      named_by_connection_.insert(absl::AsciiStrToLower(absl::StripAsciiWhitespace(token)));
    }
  }
}

bool ForwardedHeaders::allows(std::string_view name) const {
  if (name.empty() || name[0] == ':' || name.starts_with("x-envoy-") ||
      name.starts_with("forebay-") || contains(kNeverForwarded, name)) {
    return false;
  }
  return named_by_connection_.empty() || !named_by_connection_.contains(toAbsl(name));
}

bool isSecretHeader(std::string_view name) { return contains(kSecret, name); }

}  // namespace forebay
