#include "source/cli/render.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "google/protobuf/util/json_util.h"
#include "source/base/log.h"
#include "source/base/strings.h"
#include "source/cli/terminal_text.h"

namespace forebay {
namespace {

using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::Value;

// A protobuf map has no order: this is one that suits all of the contract's shapes. What is not in
// it comes last, by name.
constexpr std::string_view kOrder[] = {
    "id",
    "name",
    "value",
    "version",
    "envoy_version",
    "state",
    "reason",
    "source",
    "upstream",
    "cluster",
    "breaker",
    "next_probe_at",
    "paused",
    "pause_reason",
    "verified",
    "received_at",
    "method",
    "path",
    "body_bytes",
    "attempts",
    "at",
    "attempt",
    "outcome",
    "status",
    "error",
    "duration_ms",
    "next_at",
    "next_because",
    "answer",
    "next_attempt_at",
    "last_outcome",
    "last_status",
    "waits_for_order",
    "order_key",
    "replay",
    "matched",
    "sent",
    "accepted",
    "pending",
    "backlog",
    "retrying",
    "in_flight",
    "ramp_percent",
    "retry_ratio_percent",
    "storm",
    "delivered",
    "failed",
    "dead",
    "quarantined",
    "oldest_pending_seconds",
    "orphaned",
    "rate_per_minute",
    "created_at",
    "estimated_end",
    "uptime_seconds",
    "store",
    "bytes",
    "bytes_max",
    "read_only",
    "totals",
    "kept",
    "missing",
    "revived",
    "upstreams",
    "headers",
    "attempt_log",
};
constexpr std::string_view kEventColumns[] = {"id",           "state",    "source",
                                              "upstream",     "attempts", "received_at",
                                              "last_outcome", "method",   "path"};
constexpr std::string_view kUpstreamColumns[] = {
    "name",        "cluster",       "breaker",      "paused",
    "backlog",     "retrying",      "in_flight",    "oldest_pending_seconds",
    "orphaned",    "next_probe_at", "ramp_percent", "storm",
    "pause_reason"};

size_t rank(std::string_view key) {
  return static_cast<size_t>(std::find(std::begin(kOrder), std::end(kOrder), key) -
                             std::begin(kOrder));
}

std::string scalarText(const Value& value) {
  switch (value.kind_case()) {
    case Value::kNumberValue:
      return value.number_value() == std::floor(value.number_value())
                 ? absl::StrFormat("%.0f", value.number_value())
                 : absl::StrFormat("%g", value.number_value());
    case Value::kBoolValue:
      return value.bool_value() ? "true" : "false";
    case Value::kStringValue:
      return terminalText(value.string_value());
    default:
      return "";
  }
}

const Value* find(const Struct& object, std::string_view key) {
  const auto found = object.fields().find(std::string(key));
  return found == object.fields().end() ? nullptr : &found->second;
}

std::vector<std::pair<std::string, const Value*>> ordered(const Struct& object) {
  std::vector<std::pair<std::string, const Value*>> fields;
  for (const auto& [key, value] : object.fields()) {
    fields.emplace_back(key, &value);
  }
  std::sort(fields.begin(), fields.end(), [](const auto& a, const auto& b) {
    return std::pair(rank(a.first), a.first) < std::pair(rank(b.first), b.first);
  });
  return fields;
}

std::string tableOf(const ListValue& list, absl::Span<const std::string_view> columns) {
  std::vector<std::vector<std::string>> rows(1);
  for (const std::string_view column : columns) {
    rows[0].push_back(absl::AsciiStrToUpper(toAbsl(column)));
  }
  for (const Value& element : list.values()) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const std::string_view column : columns) {
      const Value* const value = find(element.struct_value(), column);
      const std::string text = value == nullptr ? "" : scalarText(*value);
      row.push_back(text.empty() ? "-" : text);
    }
  }
  return alignedTable(rows);
}

// A table with the columns that any of the objects has.
std::string tableOf(const ListValue& list) {
  Struct all;
  for (const Value& element : list.values()) {
    for (const auto& [key, value] : element.struct_value().fields()) {
      (*all.mutable_fields())[key];
    }
  }
  const auto fields = ordered(all);
  std::vector<std::string_view> columns;
  for (const auto& [key, value] : fields) {
    columns.push_back(key);
  }
  return tableOf(list, columns);
}

void appendFields(const Struct& object, const std::string& prefix, std::string& lines,
                  std::string& tables) {
  for (const auto& [key, value] : ordered(object)) {
    const std::string name = terminalText(prefix + key);
    if (value->kind_case() == Value::kStructValue) {
      appendFields(value->struct_value(), cat(name, "."), lines, tables);
    } else if (value->kind_case() == Value::kListValue) {
      if (value->list_value().values_size() > 0) {
        tables.append(cat("\n", name, ":\n",
                          key == "upstreams" ? tableOf(value->list_value(), kUpstreamColumns)
                                             : tableOf(value->list_value())));
      }
    } else {
      lines.append(cat(name, ": ", scalarText(*value), "\n"));
    }
  }
}

}  // namespace

absl::StatusOr<Struct> parseJsonObject(std::string_view json) {
  Struct object;
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), &object);
  if (!status.ok()) {
    return absl::InvalidArgumentError(cat("not a JSON object: \"", printable(json, 128), "\""));
  }
  return object;
}

std::string renderEvents(const Struct& answer) {
  const Value* const events = find(answer, "events");
  std::string text = events == nullptr || events->list_value().values().empty()
                         ? "no events\n"
                         : tableOf(events->list_value(), kEventColumns);
  if (const Value* const cursor = find(answer, "next_cursor")) {
    text.append(cat("more: --cursor ", scalarText(*cursor), "\n"));
  }
  return text;
}

std::string renderUpstreams(const Struct& answer) {
  const Value* const upstreams = find(answer, "upstreams");
  return upstreams == nullptr || upstreams->list_value().values().empty()
             ? "no upstreams\n"
             : tableOf(upstreams->list_value(), kUpstreamColumns);
}

std::string renderObject(const Struct& answer) {
  std::string lines;
  std::string tables;
  appendFields(answer, "", lines, tables);
  return lines + tables;
}

std::string errorMessage(const Struct& answer) {
  const Value* const error = find(answer, "error");
  if (error == nullptr) {
    return "";
  }
  const Value* const message = find(error->struct_value(), "message");
  return message == nullptr ? "" : scalarText(*message);
}

}  // namespace forebay
