#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "source/cli/arguments.h"

namespace forebay {

// What a command asks of the admin.
struct CliRequest {
  std::string method;
  std::string target;
  std::string body;
};

// The options of the command line that filter events; they are the API's names.
inline constexpr std::string_view kFilterOptions[] = {"state", "source", "upstream",
                                                      "since", "until",  "q"};

// Each gets the words after the command. InvalidArgument is a mistake in the usage.
absl::StatusOr<CliRequest> statusRequest(const Arguments& arguments);
absl::StatusOr<CliRequest> eventsRequest(const Arguments& arguments);
absl::StatusOr<CliRequest> eventRequest(const Arguments& arguments);
absl::StatusOr<CliRequest> replayRequest(const Arguments& arguments);
absl::StatusOr<CliRequest> upstreamsRequest(const Arguments& arguments);
absl::StatusOr<CliRequest> pauseRequest(const Arguments& arguments);
absl::StatusOr<CliRequest> resumeRequest(const Arguments& arguments);

}  // namespace forebay
