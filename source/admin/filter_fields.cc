#include "source/admin/filter_fields.h"

#include <vector>

#include "absl/strings/str_join.h"
#include "source/admin/time_text.h"
#include "source/base/limits.h"
#include "source/base/log.h"
#include "source/base/strings.h"
#include "source/event/names.h"

namespace forebay {
namespace {

absl::Status setText(std::string_view value, size_t bytes_max, std::string& field) {
  if (value.empty()) {
    return absl::InvalidArgumentError("\"\" is empty; leave it out to match everything");
  }
  if (value.size() > bytes_max) {
    return absl::InvalidArgumentError(
        cat("\"", printable(value, 32), "\" has ", value.size(), " bytes, more than ", bytes_max));
  }
  field = std::string(value);
  return absl::OkStatus();
}

absl::Status setTime(std::string_view value, absl::Time now, absl::Time& field) {
  const absl::StatusOr<absl::Time> time = parseTime(value, now);
  if (time.ok()) {
    field = *time;
  }
  return time.status();
}

}  // namespace

absl::Status setFilterField(std::string_view name, std::string_view value, absl::Time now,
                            EventFilter& filter) {
  if (name == "state") {
    const absl::StatusOr<v1::State> state = parseState(value);
    if (state.ok()) {
      filter.state = *state;
    }
    return state.status();
  }
  if (name == "source") {
    return setText(value, limits::kNameBytesMax, filter.source);
  }
  if (name == "upstream") {
    return setText(value, limits::kNameBytesMax, filter.upstream);
  }
  if (name == "since") {
    return setTime(value, now, filter.since);
  }
  if (name == "until") {
    return setTime(value, now, filter.until);
  }
  if (name == "q") {
    return setText(value, limits::kSearchTextBytesMax, filter.text);
  }
  return absl::InvalidArgumentError(cat("unknown field (", join(kFilterFields, ", "), ")"));
}

absl::Status checkFilterRange(const EventFilter& filter) {
  if (filter.since < filter.until) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(cat("until: \"", formatTime(filter.until),
                                        "\" is not after since, which is \"",
                                        formatTime(filter.since), "\""));
}

std::string describeFilter(const EventFilter& filter) {
  std::vector<std::string> parts;
  const auto addText = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) {
      parts.push_back(cat(name, "=\"", printable(value), "\""));
    }
  };
  if (filter.state) {
    parts.push_back(cat("state=", stateName(*filter.state)));
  }
  addText("source", filter.source);
  addText("upstream", filter.upstream);
  if (filter.since != absl::InfinitePast()) {
    parts.push_back(cat("since=", formatTime(filter.since)));
  }
  if (filter.until != absl::InfiniteFuture()) {
    parts.push_back(cat("until=", formatTime(filter.until)));
  }
  addText("q", filter.text);
  return parts.empty() ? "everything" : absl::StrJoin(parts, " ");
}

}  // namespace forebay
