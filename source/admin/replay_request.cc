#include "source/admin/replay_request.h"

#include <cmath>
#include <string>
#include <utility>

#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "source/admin/answers.h"
#include "source/admin/filter_fields.h"
#include "source/base/log.h"
#include "source/base/strings.h"

namespace forebay {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

// A value as an error shows it.
std::string shown(const Value& value) {
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(value, &json).ok()) {
    return "a value that can't be shown";
  }
  return value.kind_case() == Value::kStringValue
             ? cat("\"", printable(value.string_value(), 64), "\"")
             : printable(json, 64);
}

absl::Status wrongType(std::string_view field, const Value& value, std::string_view wanted) {
  return absl::InvalidArgumentError(cat(field, ": ", shown(value), " is not ", wanted));
}

absl::StatusOr<Struct> parseObject(std::string_view body) {
  Struct object;
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(body.data(), body.size()), &object);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        cat("body: \"", printable(body, 32),
            "\" is not a JSON object: ", printable(status.message().as_string())));
  }
  return object;
}

absl::StatusOr<std::vector<EventId>> parseIds(const Value& value) {
  if (value.kind_case() != Value::kListValue) {
    return wrongType("ids", value, "a list of event ids");
  }
  const int count = value.list_value().values_size();
  if (count == 0) {
    return absl::InvalidArgumentError("ids: [] is empty");
  }
  if (static_cast<size_t>(count) > limits::kReplayEventsMax) {
    return absl::InvalidArgumentError(
        cat("ids: ", count, " are more than ", limits::kReplayEventsMax));
  }
  std::vector<EventId> ids;
  for (int i = 0; i < count; ++i) {
    const std::string field = cat("ids[", i, "]");
    const Value& element = value.list_value().values(i);
    if (element.kind_case() != Value::kStringValue) {
      return wrongType(field, element, "an event id");
    }
    const absl::StatusOr<EventId> id = EventId::parse(element.string_value());
    if (!id.ok()) {
      return withName(field, id.status());
    }
    ids.push_back(*id);
  }
  return ids;
}

absl::StatusOr<EventFilter> parseFilter(const Value& value, absl::Time now) {
  if (value.kind_case() != Value::kStructValue) {
    return wrongType("filter", value, "an object");
  }
  EventFilter filter;
  for (const auto& [name, field] : value.struct_value().fields()) {
    const std::string path = cat("filter.", printable(name, 64));
    if (field.kind_case() != Value::kStringValue) {
      return wrongType(path, field, "a text");
    }
    if (const absl::Status status = setFilterField(name, field.string_value(), now, filter);
        !status.ok()) {
      return withName(path, status);
    }
  }
  if (const absl::Status status = checkFilterRange(filter); !status.ok()) {
    return absl::InvalidArgumentError(cat("filter.", status.message()));
  }
  return filter;
}

absl::StatusOr<uint32_t> parseRate(const Value& value) {
  const double rate = value.number_value();
  if (value.kind_case() != Value::kNumberValue || !(rate >= 1) || rate > limits::kReplayRateMax ||
      rate != std::floor(rate)) {
    return wrongType("rate_per_minute", value,
                     cat("a whole number from 1 to ", limits::kReplayRateMax));
  }
  return static_cast<uint32_t>(rate);
}

absl::Status setField(const std::string& name, const Value& value, absl::Time now,
                      ReplayRequest& request) {
  if (name == "ids") {
    absl::StatusOr<std::vector<EventId>> ids = parseIds(value);
    if (ids.ok()) {
      request.ids = *std::move(ids);
    }
    return ids.status();
  }
  if (name == "filter") {
    absl::StatusOr<EventFilter> filter = parseFilter(value, now);
    if (filter.ok()) {
      request.filter = *std::move(filter);
    }
    return filter.status();
  }
  if (name == "rate_per_minute") {
    const absl::StatusOr<uint32_t> rate = parseRate(value);
    if (rate.ok()) {
      request.rate_per_minute = *rate;
    }
    return rate.status();
  }
  if (name == "dry_run") {
    if (value.kind_case() != Value::kBoolValue) {
      return wrongType("dry_run", value, "true or false");
    }
    request.dry_run = value.bool_value();
    return absl::OkStatus();
  }
  if (name == "to") {
    return absl::InvalidArgumentError(cat("to: ", shown(value), ": not supported yet"));
  }
  return absl::InvalidArgumentError(
      cat(printable(name, 64), ": unknown field (ids, filter, rate_per_minute, dry_run)"));
}

}  // namespace

absl::StatusOr<ReplayRequest> parseReplayRequest(std::string_view body, absl::Time now) {
  const absl::StatusOr<Struct> object = parseObject(body);
  if (!object.ok()) {
    return object.status();
  }
  ReplayRequest request;
  for (const auto& [name, value] : object->fields()) {
    if (const absl::Status status = setField(name, value, now, request); !status.ok()) {
      return status;
    }
  }
  if (request.ids.empty() && !request.filter) {
    return absl::InvalidArgumentError(
        "ids: missing, and filter too: one of them says what to replay");
  }
  if (!request.ids.empty() && request.filter) {
    return absl::InvalidArgumentError("ids: given together with filter; only one of them may be");
  }
  return request;
}

absl::Status checkNoFields(std::string_view body) {
  if (body.empty()) {
    return absl::OkStatus();
  }
  const absl::StatusOr<Struct> object = parseObject(body);
  if (object.ok() && !object->fields().empty()) {
    return absl::InvalidArgumentError(cat(printable(object->fields().begin()->first, 64),
                                          ": unknown field; everything is in the query here"));
  }
  return object.status();
}

}  // namespace forebay
