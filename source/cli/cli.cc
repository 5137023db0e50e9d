#include "source/cli/cli.h"

#include <algorithm>
#include <vector>

#include "source/base/log.h"
#include "source/base/strings.h"
#include "source/base/version.h"
#include "source/cli/arguments.h"
#include "source/cli/plan.h"
#include "source/cli/render.h"
#include "source/cli/requests.h"

namespace forebay {
namespace {

constexpr std::string_view kUrlDefault = "http://127.0.0.1:9901";

constexpr std::string_view kHelp =
    R"(forebay: looks into Forebay and steers it, through Envoy's admin.

  forebay status                     version, store, totals and upstreams
  forebay events [FILTER] [--limit N] [--cursor CURSOR]
                                     stored events, newest first
  forebay event ID                   one event and its attempts
  forebay replay (ID... | FILTER) [--rate N] [--dry-run]
                                     delivers events again, N a minute (100)
  forebay upstreams                  breaker, backlog and age of each upstream
  forebay pause UPSTREAM             stops delivering; capturing goes on
  forebay resume UPSTREAM            delivers again

  forebay plan CONFIG                what will happen to an app when it comes back; needs no Envoy
                                     (forebay plan --help)
  forebay store accept-loss PATH     makes a damaged store open again with what is left of it;
                                     Envoy must be stopped

FILTER is any of
  --state pending|retrying|delivered|dead|quarantined
  --source NAME  --upstream NAME
  --since TIME   --until TIME        2026-01-31T12:00:00Z, or -2h, -1h30m, -7d
  --q TEXT                           in the path, a header or the body

Options of every command
  --url URL                          Envoy's admin (http://127.0.0.1:9901)
  --json                             the answer as it is, for machines
  --help, --version

Exit codes: 0 done, 1 failed, 2 wrong usage.
)";

constexpr std::string_view kValuedOptions[] = {
    "url",  "state", "source", "upstream", "since",   "until",    "q",   "limit", "cursor",
    "rate", "burst", "outage", "kind",     "latency", "capacity", "svg", "seed"};
constexpr std::string_view kFlags[] = {"json", "dry-run", "compare", "help", "version"};
constexpr std::string_view kCommonOptions[] = {"url", "json"};
constexpr std::string_view kStoreOptions[] = {"json"};
constexpr std::string_view kListOptions[] = {"url",   "json",  "state", "source", "upstream",
                                             "since", "until", "q",     "limit",  "cursor"};
constexpr std::string_view kReplayOptions[] = {"url",      "json",  "state",  "source",
                                               "upstream", "since", "until",  "q",
                                               "rate",     "burst", "dry-run"};

struct Command {
  std::string_view name;
  absl::Span<const std::string_view> options;
  absl::StatusOr<CliRequest> (*request)(const Arguments& arguments);
  std::string (*render)(const google::protobuf::Struct& answer);
};

constexpr Command kCommands[] = {
    {"status", kCommonOptions, statusRequest, renderObject},
    {"events", kListOptions, eventsRequest, renderEvents},
    {"event", kCommonOptions, eventRequest, renderObject},
    {"replay", kReplayOptions, replayRequest, renderObject},
    {"upstreams", kCommonOptions, upstreamsRequest, renderUpstreams},
    {"pause", kCommonOptions, pauseRequest, renderObject},
    {"resume", kCommonOptions, resumeRequest, renderObject},
};

int wrongUsage(const CliEnvironment& environment, std::string_view what) {
  environment.err << "forebay: " << what << "\nTry forebay --help\n";
  return kExitUsage;
}

int failed(const CliEnvironment& environment, std::string_view what) {
  environment.err << "forebay: " << what << "\n";
  return kExitFailed;
}

int print(std::string_view json, bool as_json,
          std::string (*render)(const google::protobuf::Struct& answer),
          const CliEnvironment& environment) {
  const absl::StatusOr<google::protobuf::Struct> answer = parseJsonObject(json);
  if (!answer.ok()) {
    return failed(environment, toStd(answer.status().message()));
  }
  if (as_json) {
    environment.out << json;
  } else {
    environment.out << render(*answer);
  }
  return kExitOk;
}

int show(const Command& command, bool as_json, const HttpResponse& response,
         const CliEnvironment& environment) {
  if (response.status == 200) {
    return print(response.body, as_json, command.render, environment);
  }
  const absl::StatusOr<google::protobuf::Struct> answer = parseJsonObject(response.body);
  const std::string message = answer.ok() ? errorMessage(*answer) : "";
  return failed(environment, message.empty()
                                 ? cat("HTTP ", response.status, " and no word of Forebay: \"",
                                       printable(response.body, 128), "\"")
                                 : message);
}

std::string otherOption(const Arguments& arguments, absl::Span<const std::string_view> options,
                        std::string_view command) {
  const std::string other = arguments.firstOtherThan(options);
  return other.empty() ? "" : cat("--", other, ": not an option of ", command);
}

int runCommand(const Command& command, const Arguments& arguments,
               const CliEnvironment& environment) {
  if (const std::string wrong = otherOption(arguments, command.options, command.name);
      !wrong.empty()) {
    return wrongUsage(environment, wrong);
  }
  const absl::StatusOr<CliRequest> request = command.request(arguments);
  if (!request.ok()) {
    return wrongUsage(environment, cat(command.name, ": ", toStd(request.status().message())));
  }
  const absl::StatusOr<std::unique_ptr<AdminClient>> client =
      environment.connect(arguments.value("url").value_or(std::string(kUrlDefault)));
  if (!client.ok()) {
    return wrongUsage(environment, cat("--url: ", toStd(client.status().message())));
  }
  const absl::StatusOr<HttpResponse> response =
      (*client)->send(request->method, request->target, request->body);
  if (!response.ok()) {
    return failed(environment, toStd(response.status().message()));
  }
  return show(command, arguments.has("json"), *response, environment);
}

// Works on the files, not through Envoy.
int runStore(const Arguments& arguments, const CliEnvironment& environment) {
  if (arguments.words().size() != 2 || arguments.words()[0] != "accept-loss" ||
      arguments.words()[1].empty()) {
    return wrongUsage(environment, "store: wants accept-loss and a PATH");
  }
  if (const std::string wrong = otherOption(arguments, kStoreOptions, "store"); !wrong.empty()) {
    return wrongUsage(environment, wrong);
  }
  const absl::StatusOr<std::string> json = environment.accept_loss(arguments.words()[1]);
  return json.ok() ? print(*json, arguments.has("json"), renderObject, environment)
                   : failed(environment, toStd(json.status().message()));
}

bool asksFor(const Arguments& arguments, std::string_view command) {
  return !arguments.words().empty() && arguments.words()[0] == command;
}

// Works on a configuration alone.
int runPlan(const Arguments& arguments, const CliEnvironment& environment) {
  if (const std::string wrong = otherOption(arguments, kPlanOptions, "plan"); !wrong.empty()) {
    return wrongUsage(environment, wrong);
  }
  const absl::StatusOr<PlanOptions> options = parsePlanOptions(arguments);
  if (!options.ok()) {
    return wrongUsage(environment, cat("plan: ", toStd(options.status().message())));
  }
  const absl::StatusOr<std::string> text = plan(*options, environment.columns);
  if (!text.ok()) {
    return failed(environment, toStd(text.status().message()));
  }
  environment.out << *text;
  return kExitOk;
}

}  // namespace

int runCli(absl::Span<const std::string> arguments, const CliEnvironment& environment) {
  absl::StatusOr<Arguments> parsed = Arguments::parse(arguments, kValuedOptions, kFlags);
  if (!parsed.ok()) {
    return wrongUsage(environment, toStd(parsed.status().message()));
  }
  if (parsed->has("help")) {
    environment.out << (asksFor(*parsed, "plan") ? kPlanHelp : kHelp);
    return kExitOk;
  }
  if (parsed->has("version")) {
    environment.out << "forebay " << kVersion << "\n";
    return kExitOk;
  }
  if (parsed->words().empty()) {
    return wrongUsage(environment, "no command");
  }
  const std::string name = parsed->takeFirstWord();
  if (name == "store") {
    return runStore(*parsed, environment);
  }
  if (name == "plan") {
    return runPlan(*parsed, environment);
  }
  const auto* const command = std::find_if(std::begin(kCommands), std::end(kCommands),
                                           [&](const Command& c) { return c.name == name; });
  if (command == std::end(kCommands)) {
    return wrongUsage(environment, cat("\"", printable(name, 64), "\": unknown command"));
  }
  return runCommand(*command, *parsed, environment);
}

}  // namespace forebay
