#include "source/store/rocks/order_index.h"

#include <algorithm>

#include "source/base/limits.h"
#include "source/base/strings.h"
#include "source/store/rocks/keys.h"
#include "source/store/rocks/reader.h"

namespace forebay::rocks {
namespace {

size_t indexOf(OrderPlace place) { return place == OrderPlace::Holds ? 0 : 1; }

std::string nameOf(const OrderKey& key) {
  // The same for both places.
  std::string name;
  encodeOrderKey(key.upstream, OrderPlace::None, key.key, EventId(), name);
  return name;
}

}  // namespace

EventId OrderIndex::low(const OrderKey& key, OrderPlace place) const {
  const auto found = lows_.find(nameOf(key));
  return found == lows_.end() ? EventId() : found->second[indexOf(place)];
}

void OrderIndex::adding(const OrderKey& key, OrderPlace place, const EventId& id) {
  const auto found = lows_.find(nameOf(key));
  if (found != lows_.end()) {
    EventId& low = found->second[indexOf(place)];
    low = std::min(low, id);
  }
}

void OrderIndex::noneBelow(const OrderKey& key, OrderPlace place, const EventId& id) {
  std::string name = nameOf(key);
  if (lows_.size() >= limits::kOrderHintsMax && !lows_.contains(name)) {
    // Those in use come back with their next event; the others are forgotten.
    lows_.clear();
  }
  lows_[std::move(name)][indexOf(place)] = id;
}

absl::StatusOr<std::optional<Waiter>> OrderIndex::olderHolder(Database& database,
                                                              const OrderKey& key,
                                                              const EventId& id) {
  if (low(key, OrderPlace::Holds) >= id) {
    return std::nullopt;
  }
  absl::StatusOr<std::optional<Waiter>> older =
      find(database, key, OrderPlace::Holds, &id, [](const EventId&) { return false; });
  if (older.ok()) {
    noneBelow(key, OrderPlace::Holds, older->has_value() ? (*older)->id : id);
  }
  return older;
}

absl::StatusOr<std::optional<Waiter>> OrderIndex::first(
    Database& database, const OrderKey& key, OrderPlace place,
    absl::FunctionRef<bool(const EventId&)> skip) {
  return find(database, key, place, nullptr, skip);
}

absl::StatusOr<std::optional<Waiter>> OrderIndex::find(
    Database& database, const OrderKey& key, OrderPlace place, const EventId* end,
    absl::FunctionRef<bool(const EventId&)> skip) {
  std::string first;
  encodeOrderKey(key.upstream, place, key.key, low(key, place), first);
  std::string last;
  if (end != nullptr) {
    encodeOrderKey(key.upstream, place, key.key, *end, last);
  } else {
    last = orderEnd(key.upstream, place, key.key);
  }
  const rocksdb::Slice lower(first);
  const rocksdb::Slice upper(last);
  const auto iterator = database.iterate(Family::Order, &lower, &upper, true);
  std::string seen = first;
  iterator->SeekToFirst();
  while (true) {
    for (; iterator->Valid(); iterator->Next()) {
      seen = iterator->key().ToString();
      const std::optional<EventId> id = decodeOrderKey(seen);
      if (!id.has_value() || skip(*id)) {
        continue;
      }
      absl::StatusOr<v1::EventState> state = readState(database, *id);
      if (state.ok() && orderPlace(*state) == place && state->order_key() == key.key) {
        return Waiter{*id, *std::move(state)};
      }
      log_.error(
          cat("lane ", printable(key.upstream), ": event ", id->toString(),
              " is in the order of a key that its state does not name; nobody waits for it"));
    }
    const rocksdb::Status status = iterator->status();
    if (status.ok()) {
      return std::nullopt;
    }
    if (!status.IsCorruption() || !stepOver(*iterator, seen, true)) {
      return toStatus(status, cat("lane ", printable(key.upstream), ": order index"));
    }
    log_.error(cat("lane ", printable(key.upstream),
                   ": a damaged part of the order index was passed over (", status.ToString(),
                   "); rebuild it, with the store closed, by: forebay store accept-loss PATH"));
  }
}

}  // namespace forebay::rocks
