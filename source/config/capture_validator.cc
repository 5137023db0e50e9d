#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/ascii.h"
#include "source/base/strings.h"
#include "source/config/config_limits.h"
#include "source/config/config_text.h"
#include "source/config/validators.h"

namespace forebay {

namespace {

// TRACE and CONNECT are left out: neither carries a webhook, and a CONNECT has no end to wait for.
constexpr std::string_view kMethods[] = {"GET",   "HEAD",   "POST",   "PUT",
                                         "PATCH", "DELETE", "OPTIONS"};

bool isKnownMethod(std::string_view method) {
  return std::find(std::begin(kMethods), std::end(kMethods), method) != std::end(kMethods);
}

bool isPrintable(std::string_view text) {
  for (const char c : text) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) {
      return false;
    }
  }
  return true;
}

void checkUpstream(Section& capture, const std::string& name, const EngineConfig& engine) {
  if (engine.findUpstream(name) != nullptr) {
    return;
  }
  std::vector<std::string_view> known;
  for (const UpstreamConfig& upstream : engine.upstreams) {
    if (known.size() == limits::kKnownUpstreamsTold) {
      known.push_back("…");
      break;
    }
    known.push_back(upstream.name);
  }
  capture.fail("upstream",
               cat("no such upstream (got ", inQuotes(name), "; known: ", join(known, ", "), ")"));
}

Acknowledgement validateAcknowledge(Section section) {
  Acknowledgement config;
  section.readNumber("status", uint32_t{200}, uint32_t{299}, config.status);
  section.readString("body", limits::kAcknowledgeBodyBytesMax, config.body);
  section.readString("content_type", limits::kContentTypeBytesMax, config.content_type);
  if (section.isClean("status") && (config.status == 204 || config.status == 205) &&
      !config.body.empty()) {
    // RFC 9110 allows none, and a sender would take it for the start of the next answer.
    section.fail("body", cat("must be empty with status ", config.status));
  }
  if (!isPrintable(config.content_type)) {
    section.fail("content_type", cat("must be printable ASCII without line breaks (got ",
                                     inQuotes(config.content_type), ")"));
  }
  return config;
}

void checkMethod(Section& capture, const std::string& element, const std::string& method,
                 const std::set<std::string>& before) {
  if (before.contains(method)) {
    capture.fail(element, cat("must be unique (got ", inQuotes(method), " again)"));
  } else if (isKnownMethod(method)) {
    return;
  } else if (const std::string upper = absl::AsciiStrToUpper(method); isKnownMethod(upper)) {
    capture.fail(element, cat("must be upper case: ", upper, " (got ", inQuotes(method), ")"));
  } else {
    capture.fail(element,
                 cat("must be one of ", join(kMethods, ", "), " (got ", inQuotes(method), ")"));
  }
}

void validateMethods(Section& capture, std::vector<std::string>& methods) {
  if (capture.isEmptyList("methods")) {
    capture.fail("methods", "must not be empty: leave it out for POST");
  }
  if (!capture.has("methods")) {
    return;
  }
  methods = capture.readStrings("methods");
  if (methods.size() > limits::kMethodsMax) {
    capture.fail("methods",
                 cat("must be at most ", limits::kMethodsMax, " (got ", methods.size(), ")"));
    return;
  }
  std::set<std::string> before;
  for (size_t i = 0; i < methods.size(); ++i) {
    const std::string element = elementPath("methods", i);
    if (capture.isClean(element)) {
      checkMethod(capture, element, methods[i], before);
      before.insert(methods[i]);
    }
  }
}

}  // namespace

CaptureConfig validateCapture(Section capture, const EngineConfig& engine) {
  CaptureConfig config;
  capture.readName("source", config.source);
  if (capture.readRequired("upstream", limits::kNameBytesMax, config.upstream)) {
    checkUpstream(capture, config.upstream, engine);
  }
  config.acknowledge = validateAcknowledge(capture.inner("acknowledge"));
  capture.readNumber("body_bytes_max", uint64_t{1}, limits::kBodyBytesMaxCeiling,
                     config.body_bytes_max);
  validateMethods(capture, config.methods);

  std::string provider = "none";
  capture.readString("provider", limits::kNameBytesMax, provider);
  if (provider != "none") {
    capture.fail("provider",
                 cat("not supported yet (got ", inQuotes(provider), "; only \"none\" is)"));
  }
  capture.refuseUnsupported({"secrets", "on_unverified", "deduplicate"});
  return config;
}

}  // namespace forebay
