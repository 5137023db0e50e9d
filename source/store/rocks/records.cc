#include "source/store/rocks/records.h"

#include <algorithm>

namespace forebay::rocks {
namespace {

template <typename Message>
bool parse(const rocksdb::Slice& bytes, Message& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) &&
         message.format() != 0;
}

EventId idAt(const rocksdb::Iterator& iterator) {
  return iterator.Valid() ? EventId::fromBytes(toView(iterator.key()))
                          : EventId::lastAt(absl::InfiniteFuture());
}

}  // namespace

Records::Records(Database& database)
    : events_(database.iterate(Family::Events, nullptr, nullptr, false)),
      states_(database.iterate(Family::State, nullptr, nullptr, false)) {
  for (rocksdb::Iterator* const iterator : {events_.get(), states_.get()}) {
    iterator->SeekToFirst();
    if (iterator->status().IsCorruption()) {
      ++unreadable_;
      stepOver(*iterator, std::string(EventId::kBytes, '\0'), true);
    }
  }
  load();
}

void Records::step(rocksdb::Iterator& iterator) {
  const std::string left = iterator.key().ToString();
  iterator.Next();
  if (iterator.status().IsCorruption()) {
    ++unreadable_;
    stepOver(iterator, left, true);
  }
}

void Records::next() {
  if (at_event_) {
    step(*events_);
  }
  if (at_state_) {
    step(*states_);
  }
  load();
}

void Records::load() {
  id_ = std::min(idAt(*events_), idAt(*states_));
  at_event_ = events_->Valid() && idAt(*events_) == id_;
  at_state_ = states_->Valid() && idAt(*states_) == id_;
  // The value of a large event lies in a blob file; one that can't be read leaves it empty.
  has_event_ = at_event_ && parse(events_->value(), event_);
  has_state_ = at_state_ && parse(states_->value(), state_);
  unreadable_ += (at_event_ && !has_event_) + (at_state_ && !has_state_);
}

}  // namespace forebay::rocks
