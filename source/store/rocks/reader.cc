#include "source/store/rocks/reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "source/store/rocks/keys.h"

namespace forebay::rocks {
namespace {

absl::Status unreadable(const EventId& id, const char* what, const std::string& why) {
  return absl::DataLossError(absl::StrCat("event ", id.toString(), ": its ", what, " ", why));
}

absl::Status readError(const EventId& id, const char* what, const rocksdb::Status& status) {
  if (status.IsNotFound()) {
    return absl::NotFoundError(absl::StrCat("event ", id.toString(), ": not in the store"));
  }
  return unreadable(id, what, absl::StrCat("can't be read: ", status.ToString()));
}

template <typename Message>
bool parse(const rocksdb::Slice& bytes, Message& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

absl::StatusOr<EventPtr> parseEvent(const EventId& id, const rocksdb::Slice& bytes) {
  auto event = std::make_shared<Event>();
  event->id = id;
  // A record's format is its first field and never zero: an empty or foreign value is no record.
  if (!parse(bytes, event->record) || event->record.format() == 0) {
    return unreadable(id, "record", "is damaged");
  }
  return EventPtr(std::move(event));
}

// Calls `take(index, status, bytes)` for each id. Reads by one call, and again one by one where
// that failed for a reason other than absence.
template <typename Take>
void readMany(Database& database, Family family, absl::Span<const EventId> ids, Take take) {
  std::vector<rocksdb::Slice> keys;
  keys.reserve(ids.size());
  for (const EventId& id : ids) {
    keys.push_back(toSlice(id.bytes()));
  }
  std::vector<rocksdb::PinnableSlice> values(ids.size());
  std::vector<rocksdb::Status> statuses(ids.size());
  const rocksdb::ReadOptions options;
  rocksdb::ColumnFamilyHandle* const handle = database.family(family);
  database.db().MultiGet(options, handle, keys.size(), keys.data(), values.data(), statuses.data());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!statuses[i].ok() && !statuses[i].IsNotFound()) {
      values[i].Reset();
      statuses[i] = database.db().Get(options, handle, keys[i], &values[i]);
    }
    take(i, statuses[i], values[i]);
  }
}

}  // namespace

absl::StatusOr<v1::EventState> parseState(const EventId& id, const rocksdb::Slice& bytes) {
  v1::EventState state;
  if (!parse(bytes, state) || state.format() == 0) {
    return unreadable(id, "state", "is damaged");
  }
  return state;
}

std::vector<absl::StatusOr<v1::EventState>> readStates(Database& database,
                                                       absl::Span<const EventId> ids) {
  std::vector<absl::StatusOr<v1::EventState>> states(ids.size());
  readMany(database, Family::State, ids,
           [&](size_t i, const rocksdb::Status& status, const rocksdb::Slice& bytes) {
             if (status.ok()) {
               states[i] = parseState(ids[i], bytes);
             } else {
               states[i] = readError(ids[i], "state", status);
             }
           });
  return states;
}

std::vector<absl::StatusOr<EventPtr>> readEvents(Database& database,
                                                 absl::Span<const EventId> ids) {
  std::vector<absl::StatusOr<EventPtr>> events(ids.size());
  readMany(database, Family::Events, ids,
           [&](size_t i, const rocksdb::Status& status, const rocksdb::Slice& bytes) {
             if (status.ok()) {
               events[i] = parseEvent(ids[i], bytes);
             } else {
               events[i] = readError(ids[i], "record", status);
             }
           });
  return events;
}

absl::StatusOr<v1::EventState> readState(Database& database, const EventId& id) {
  return std::move(readStates(database, absl::MakeConstSpan(&id, 1)).front());
}

absl::StatusOr<EventPtr> readEvent(Database& database, const EventId& id) {
  return std::move(readEvents(database, absl::MakeConstSpan(&id, 1)).front());
}

absl::StatusOr<StoredEvent> readStored(Database& database, const EventId& id) {
  absl::StatusOr<v1::EventState> state = readState(database, id);
  if (!state.ok()) {
    return state.status();
  }
  absl::StatusOr<EventPtr> event = readEvent(database, id);
  if (absl::IsNotFound(event.status())) {
    return unreadable(id, "record", "is missing");
  }
  if (!event.ok()) {
    return event.status();
  }
  return StoredEvent{*std::move(event), *std::move(state)};
}

absl::StatusOr<std::vector<v1::AttemptRecord>> readAttempts(Database& database, const EventId& id) {
  const std::string first = attemptKey(id, 0);
  std::string last = attemptKey(id, ~uint32_t{0});
  last.push_back('\0');
  const rocksdb::Slice from(first);
  const rocksdb::Slice to(last);
  std::vector<v1::AttemptRecord> attempts;
  const auto iterator = database.iterate(Family::Attempts, &from, &to, true);
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    if (!parse(iterator->value(), attempts.emplace_back())) {
      return unreadable(id, "attempt", "is damaged");
    }
  }
  if (!iterator->status().ok()) {
    return readError(id, "attempts", iterator->status());
  }
  if (attempts.empty()) {
    const absl::Status known = readState(database, id).status();
    if (absl::IsNotFound(known)) {
      return known;
    }
  }
  return attempts;
}

}  // namespace forebay::rocks
