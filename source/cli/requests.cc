#include "source/cli/requests.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "source/admin/json_writer.h"
#include "source/base/log.h"
#include "source/base/strings.h"

namespace forebay {
namespace {

std::string percentEncode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      encoded.push_back(c);
    } else {
      absl::StrAppendFormat(&encoded, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

void addParameter(std::string_view name, std::string_view value, std::string& target) {
  target.append(
      cat(target.find('?') == std::string::npos ? "?" : "&", name, "=", percentEncode(value)));
}

// `name` is what the word after the command is.
absl::StatusOr<std::string> onlyWord(const Arguments& arguments, std::string_view name) {
  if (arguments.words().size() != 1 || arguments.words()[0].empty()) {
    return absl::InvalidArgumentError(cat("wants one ", name));
  }
  return arguments.words()[0];
}

absl::Status noWords(const Arguments& arguments) {
  if (arguments.words().empty()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      cat("\"", printable(arguments.words()[0], 64), "\": unexpected"));
}

absl::StatusOr<CliRequest> plainRequest(const Arguments& arguments, std::string target) {
  if (const absl::Status status = noWords(arguments); !status.ok()) {
    return status;
  }
  return CliRequest{"GET", std::move(target), ""};
}

absl::StatusOr<CliRequest> laneRequest(const Arguments& arguments, std::string target) {
  const absl::StatusOr<std::string> upstream = onlyWord(arguments, "UPSTREAM");
  if (!upstream.ok()) {
    return upstream.status();
  }
  addParameter("upstream", *upstream, target);
  return CliRequest{"POST", std::move(target), ""};
}

}  // namespace

absl::StatusOr<CliRequest> statusRequest(const Arguments& arguments) {
  return plainRequest(arguments, "/forebay");
}

absl::StatusOr<CliRequest> upstreamsRequest(const Arguments& arguments) {
  return plainRequest(arguments, "/forebay/upstreams");
}

absl::StatusOr<CliRequest> eventsRequest(const Arguments& arguments) {
  std::string target = "/forebay/events";
  const auto add = [&](std::string_view name) {
    if (const std::optional<std::string> value = arguments.value(name)) {
      addParameter(name, *value, target);
    }
  };
  std::for_each(std::begin(kFilterOptions), std::end(kFilterOptions), add);
  add("limit");
  add("cursor");
  return plainRequest(arguments, std::move(target));
}

absl::StatusOr<CliRequest> eventRequest(const Arguments& arguments) {
  const absl::StatusOr<std::string> id = onlyWord(arguments, "ID");
  if (!id.ok()) {
    return id.status();
  }
  std::string target = "/forebay/event";
  addParameter("id", *id, target);
  return CliRequest{"GET", std::move(target), ""};
}

absl::StatusOr<CliRequest> replayRequest(const Arguments& arguments) {
  const bool filtered = std::any_of(std::begin(kFilterOptions), std::end(kFilterOptions),
                                    [&](std::string_view name) { return arguments.has(name); });
  if (filtered == !arguments.words().empty()) {
    return absl::InvalidArgumentError("wants either IDs or a filter such as --state dead");
  }
  JsonWriter json;
  json.beginObject();
  if (filtered) {
    json.beginObject("filter");
    for (const std::string_view name : kFilterOptions) {
      if (const std::optional<std::string> value = arguments.value(name)) {
        json.text(name, *value);
      }
    }
    json.endObject();
  } else {
    json.beginArray("ids");
    for (const std::string& id : arguments.words()) {
      json.textElement(id);
    }
    json.endArray();
  }
  if (const std::optional<std::string> rate = arguments.value("rate")) {
    uint32_t number = 0;
    const char* const end = rate->data() + rate->size();
    const auto parsed = std::from_chars(rate->data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end || number == 0) {
      return absl::InvalidArgumentError(
          cat("--rate: \"", printable(*rate, 64), "\" is no number of events a minute"));
    }
    json.number("rate_per_minute", number);
  }
  if (arguments.has("dry-run")) {
    json.boolean("dry_run", true);
  }
  json.endObject();
  return CliRequest{"POST", "/forebay/replay", std::move(json).take()};
}

absl::StatusOr<CliRequest> pauseRequest(const Arguments& arguments) {
  return laneRequest(arguments, "/forebay/pause");
}

absl::StatusOr<CliRequest> resumeRequest(const Arguments& arguments) {
  return laneRequest(arguments, "/forebay/resume");
}

}  // namespace forebay
