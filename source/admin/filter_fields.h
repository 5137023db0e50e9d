#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "source/store/event_store.h"

namespace forebay {

// The fields of a filter, by the names that a query and a replay's body share.
inline constexpr std::string_view kFilterFields[] = {"state", "source", "upstream",
                                                     "since", "until",  "q"};

// Sets one field from its text. An error says what is wrong with the value, not whose it is.
absl::Status setFilterField(std::string_view name, std::string_view value, absl::Time now,
                            EventFilter& filter);

// Whether `filter` can match anything; an error names `until`.
absl::Status checkFilterRange(const EventFilter& filter);

// For the audit line: `state=dead source="stripe"`, or `everything`.
std::string describeFilter(const EventFilter& filter);

}  // namespace forebay
