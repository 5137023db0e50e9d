#pragma once

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "source/event/event.h"
#include "source/store/rocks/database.h"

namespace forebay::rocks {

// Walks over all events by id, for tools that look at the whole store: records and states side by
// side, whichever is there. Passes over what is damaged, and counts it.
class Records {
public:
  explicit Records(Database& database);

  bool valid() const { return events_->Valid() || states_->Valid(); }
  void next();

  const EventId& id() const { return id_; }
  bool hasEvent() const { return has_event_; }  // and it can be read
  bool hasState() const { return has_state_; }
  const v1::EventRecord& event() const { return event_; }
  const v1::EventState& state() const { return state_; }
  // How many records could not be read so far; a damaged block counts once.
  uint64_t unreadable() const { return unreadable_; }

private:
  void step(rocksdb::Iterator& iterator);
  void load();

  const std::unique_ptr<rocksdb::Iterator> events_;
  const std::unique_ptr<rocksdb::Iterator> states_;
  EventId id_;
  bool at_event_ = false;
  bool at_state_ = false;
  bool has_event_ = false;
  bool has_state_ = false;
  v1::EventRecord event_;
  v1::EventState state_;
  uint64_t unreadable_ = 0;
};

}  // namespace forebay::rocks
