#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "source/base/log.h"
#include "source/store/lifecycle.h"
#include "source/store/rocks/database.h"

namespace forebay::rocks {

// Events of one lane that are delivered in order.
struct OrderKey {
  std::string_view upstream;
  std::string_view key;
};

struct Waiter {
  EventId id;
  v1::EventState state;
};

// Reads who waits in the order of a key. Keeps nothing per event: only, for the keys used lately,
// an id below which nobody is, because a key that is used much leaves a deletion behind for every
// event it had. An entry whose event's state does not bear it out is passed over, so that nobody
// waits for an event that was lost. Used under StoreContext::transitions.
class OrderIndex {
public:
  explicit OrderIndex(Log& log) : log_(log) {}

  // After a reopening, when ids may be given out anew.
  void forget() { lows_.clear(); }

  // The first event that holds the key and was captured before `id`. No write that adds a holder
  // may be under way.
  absl::StatusOr<std::optional<Waiter>> olderHolder(Database& database, const OrderKey& key,
                                                    const EventId& id);
  // The first event at `place` that `skip` does not want.
  absl::StatusOr<std::optional<Waiter>> first(Database& database, const OrderKey& key,
                                              OrderPlace place,
                                              absl::FunctionRef<bool(const EventId&)> skip);

  // An entry is about to be written.
  void adding(const OrderKey& key, OrderPlace place, const EventId& id);
  // Nobody at `place` is below `id`, and none will be without adding().
  void noneBelow(const OrderKey& key, OrderPlace place, const EventId& id);

  size_t size() const { return lows_.size(); }

private:
  using Lows = std::array<EventId, 2>;  // of Holds and of Behind

  EventId low(const OrderKey& key, OrderPlace place) const;
  absl::StatusOr<std::optional<Waiter>> find(Database& database, const OrderKey& key,
                                             OrderPlace place, const EventId* end,
                                             absl::FunctionRef<bool(const EventId&)> skip);

  Log& log_;
  absl::flat_hash_map<std::string, Lows> lows_;
};

}  // namespace forebay::rocks
