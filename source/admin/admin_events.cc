// The handlers that show events.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "source/admin/admin.h"
#include "source/admin/answers.h"
#include "source/admin/filter_fields.h"
#include "source/admin/shapes.h"
#include "source/base/limits.h"
#include "source/base/strings.h"

namespace forebay {
namespace {

absl::StatusOr<EventFilter> filterOf(const Query& query, absl::Time now) {
  EventFilter filter;
  for (const std::string_view name : kFilterFields) {
    if (const std::optional<std::string_view> value = query.get(name)) {
      if (const absl::Status status = setFilterField(name, *value, now, filter); !status.ok()) {
        return withName(name, status);
      }
    }
  }
  if (const absl::Status status = checkFilterRange(filter); !status.ok()) {
    return status;
  }
  return filter;
}

absl::StatusOr<size_t> limitOf(const Query& query) {
  const std::optional<std::string_view> text = query.get("limit");
  if (!text) {
    return limits::kPageEventsDefault;
  }
  const absl::StatusOr<uint64_t> limit = parseWhole(*text, 1, limits::kPageEventsMax);
  if (!limit.ok()) {
    return withName("limit", limit.status());
  }
  return *limit;
}

// The cursor is the id of the last event looked at; to the caller it is opaque.
absl::StatusOr<std::optional<EventId>> cursorOf(const Query& query) {
  const std::optional<std::string_view> text = query.get("cursor");
  if (!text) {
    return std::nullopt;
  }
  const absl::StatusOr<EventId> id = EventId::parse(*text);
  if (!id.ok()) {
    return absl::InvalidArgumentError(
        cat("cursor: \"", printable(*text, 64), "\" is no next_cursor of an earlier page"));
  }
  return *id;
}

absl::StatusOr<EventId> idOf(const Query& query) {
  const absl::StatusOr<std::string_view> text = query.require("id");
  if (!text.ok()) {
    return text.status();
  }
  absl::StatusOr<EventId> id = EventId::parse(*text);
  return id.ok() ? id : withName("id", id.status());
}

}  // namespace

Admin::Result Admin::events(const Query& query, std::string_view) {
  const absl::StatusOr<EventFilter> filter = filterOf(query, deps_.clock.wallNow());
  if (!filter.ok()) {
    return filter.status();
  }
  const absl::StatusOr<size_t> limit = limitOf(query);
  if (!limit.ok()) {
    return limit.status();
  }
  const absl::StatusOr<std::optional<EventId>> cursor = cursorOf(query);
  if (!cursor.ok()) {
    return cursor.status();
  }

  JsonWriter json;
  json.beginObject();
  json.beginArray("events");
  std::optional<EventId> before = *cursor;
  for (size_t wanted = *limit; wanted > 0;) {
    const size_t step = std::min(wanted, limits::kScanStepEvents);
    absl::StatusOr<ScanPage> page = deps_.store.scan(*filter, before, step);
    if (!page.ok()) {
      return fromBelow(page.status());
    }
    for (const StoredEvent& stored : page->events) {
      json.beginObject();
      writeEventFields(stored, json);
      json.endObject();
    }
    before = page->next;
    wanted -= std::min(wanted, page->events.size());
    // Not full: the store has looked at as much as one request may cost.
    if (!before || page->events.size() < step) {
      break;
    }
  }
  json.endArray();
  if (before) {
    json.text("next_cursor", before->toString());
  }
  json.endObject();
  return jsonAnswer(std::move(json));
}

Admin::Result Admin::event(const Query& query, std::string_view) {
  const absl::StatusOr<EventId> id = idOf(query);
  if (!id.ok()) {
    return id.status();
  }
  const absl::StatusOr<StoredEvent> stored = deps_.store.read(*id);
  if (!stored.ok()) {
    return fromBelow(stored.status());
  }
  const absl::StatusOr<std::vector<v1::AttemptRecord>> attempts = deps_.store.attempts(*id);
  if (!attempts.ok()) {
    return fromBelow(attempts.status());
  }
  JsonWriter json;
  json.beginObject();
  writeEventFields(*stored, json);
  writeEventDetails(*stored, *attempts, json);
  json.endObject();
  return jsonAnswer(std::move(json));
}

Admin::Result Admin::eventBody(const Query& query, std::string_view) {
  const absl::StatusOr<EventId> id = idOf(query);
  if (!id.ok()) {
    return id.status();
  }
  const absl::StatusOr<StoredEvent> stored = deps_.store.read(*id);
  if (!stored.ok()) {
    return fromBelow(stored.status());
  }
  // Never the sender's own content type: a stranger's page must not run in a console's origin.
  return AdminResponse{200, "application/octet-stream", stored->event->record.body()};
}

}  // namespace forebay
