#include "source/store/rocks/scan.h"

#include <memory>
#include <string>

#include "source/base/limits.h"
#include "source/store/filter.h"
#include "source/store/lifecycle.h"
#include "source/store/rocks/keys.h"
#include "source/store/rocks/reader.h"

namespace forebay::rocks {
namespace {

// The ids to look at, newest first, each with its state.
class Candidates {
public:
  Candidates(Database& database, const EventFilter& filter, const IdRange& range)
      : database_(database),
        by_index_(filter.state.has_value() && isSetAside(*filter.state)),
        first_(key(filter, range.first)),
        end_(key(filter, range.end)),
        lower_(first_),
        upper_(end_),
        iterator_(database.iterate(by_index_ ? Family::SetAside : Family::State, &lower_, &upper_,
                                   false)) {
    iterator_->SeekToLast();
    passDamage(end_);
  }

  bool valid() const { return iterator_->Valid(); }
  rocksdb::Status status() const { return iterator_->status(); }
  void next() {
    const std::string left = iterator_->key().ToString();
    iterator_->Prev();
    passDamage(left);
  }
  EventId id() const {
    const std::string_view bytes = toView(iterator_->key());
    return EventId::fromBytes(by_index_ ? bytes.substr(1) : bytes);
  }
  absl::StatusOr<v1::EventState> state() const {
    return by_index_ ? readState(database_, id()) : parseState(id(), iterator_->value());
  }

private:
  // What can be read is shown, however much beside it can't.
  void passDamage(const std::string& from) {
    if (iterator_->status().IsCorruption()) {
      stepOver(*iterator_, from, false);
    }
  }

  std::string key(const EventFilter& filter, const EventId& id) const {
    return by_index_ ? setAsideKey(static_cast<uint8_t>(*filter.state), id)
                     : std::string(id.bytes());
  }

  Database& database_;
  const bool by_index_;
  const std::string first_;
  const std::string end_;
  const rocksdb::Slice lower_;
  const rocksdb::Slice upper_;
  const std::unique_ptr<rocksdb::Iterator> iterator_;
};

EventPtr withoutRecord(const EventId& id, const v1::EventState& state) {
  auto event = std::make_shared<Event>();
  event->id = id;
  event->record.set_source(state.source());
  event->record.set_upstream(state.upstream());
  event->record.set_received_at_us(absl::ToUnixMicros(id.time()));
  return event;
}

}  // namespace

absl::StatusOr<ScanPage> scan(Database& database, const EventFilter& filter,
                              std::optional<EventId> before, size_t limit) {
  ScanPage page;
  const IdRange range = idRange(filter, before);
  if (range.first >= range.end) {
    return page;
  }
  size_t looked = 0;
  uint64_t bytes = 0;       // of the events in the page
  uint64_t bytes_read = 0;  // of those looked into for the text, too
  EventId last = range.end;
  Candidates candidates(database, filter, range);
  for (; candidates.valid(); candidates.next()) {
    if (page.events.size() == limit || looked == limits::kScanRecordsMax || bytes > kPageBytesMax ||
        bytes_read > 8 * kPageBytesMax) {
      page.next = last;
      return page;
    }
    ++looked;
    last = candidates.id();
    const absl::StatusOr<v1::EventState> state = candidates.state();
    if (!state.ok() || !matchesState(filter, *state)) {
      continue;
    }
    const absl::StatusOr<EventPtr> event = readEvent(database, last);
    if (!event.ok()) {
      if (filter.text.empty()) {
        page.events.push_back({withoutRecord(last, *state), *state});
      }
      continue;
    }
    const uint64_t size = (*event)->record.ByteSizeLong();
    bytes_read += size;
    if (matchesText(filter, (*event)->record)) {
      bytes += size;
      page.events.push_back({*event, *state});
    }
  }
  if (!candidates.status().ok()) {
    return toStatus(candidates.status(), "scan");
  }
  return page;
}

}  // namespace forebay::rocks
