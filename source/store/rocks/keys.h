#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "source/event/event_id.h"
#include "source/store/event_store.h"
#include "source/store/lifecycle.h"
#include "source/store/rocks/due_window.h"

// What is on disk, and under which keys. A change here raises kStoreFormat.
//
//   family      key                                               value
//   default     "format"                                          decimal text
//               "sequence"                                        number (8), id (16) of the newest
//               "accepted/" upstream                              LaneCounts, by the committer
//               "settled/" upstream                               LaneCounts, by the settler
//               "lane/" upstream                                  LaneRecord
//               "repairing"                                       present while a repair runs
//   events      id (16)                                           EventRecord
//   state       id (16)                                           EventState
//   attempts    id (16), attempt (4)                              AttemptRecord
//   due         length (1), upstream, queue (1), due time (8),    empty
//               id (16)
//   set_aside   state (1), id (16)                                empty
//   order       length (1), upstream, place (1), length (1),      empty; as orderPlace() says
//               order key, id (16)
//
// Numbers are big-endian, so that the order of bytes is the order of numbers.
namespace forebay::rocks {

inline constexpr uint32_t kStoreFormat = 2;

inline constexpr std::string_view kEventsFamily = "events";
inline constexpr std::string_view kStateFamily = "state";
inline constexpr std::string_view kAttemptsFamily = "attempts";
inline constexpr std::string_view kDueFamily = "due";
inline constexpr std::string_view kSetAsideFamily = "set_aside";
inline constexpr std::string_view kOrderFamily = "order";

inline constexpr std::string_view kFormatKey = "format";
inline constexpr std::string_view kSequenceKey = "sequence";
inline constexpr std::string_view kRepairingKey = "repairing";
inline constexpr std::string_view kAcceptedPrefix = "accepted/";
inline constexpr std::string_view kSettledPrefix = "settled/";
inline constexpr std::string_view kLanePrefix = "lane/";

// A name under a prefix of the default family.
std::string metaKey(std::string_view prefix, std::string_view upstream);

// How far the store has come: the sequence number and id of the newest event.
struct Position {
  uint64_t sequence = 0;
  EventId newest;

  friend bool operator==(const Position&, const Position&) = default;
};
std::string encodePosition(const Position& position);
std::optional<Position> decodePosition(std::string_view value);

// Upstream names of up to 255 bytes, whatever the bytes. Into `key`, whose memory is reused.
void encodeDueKey(std::string_view upstream, Queue queue, const DueKey& due, std::string& key);
// All keys of an upstream's queue lie in [dueBegin, dueEnd).
std::string dueBegin(std::string_view upstream, Queue queue);
std::string dueEnd(std::string_view upstream, Queue queue);
std::optional<DueKey> decodeDueKey(std::string_view key);
std::optional<std::string_view> dueUpstream(std::string_view key);

std::string attemptKey(const EventId& id, uint32_t attempt);

std::string setAsideKey(uint8_t state, const EventId& id);
std::optional<EventId> decodeSetAsideKey(std::string_view key);

// Order keys of up to 255 bytes, whatever the bytes. Into `out`, whose memory is reused.
void encodeOrderKey(std::string_view upstream, OrderPlace place, std::string_view order_key,
                    const EventId& id, std::string& out);
// All entries of an order key at a place lie from its zero id to here.
std::string orderEnd(std::string_view upstream, OrderPlace place, std::string_view order_key);
std::optional<EventId> decodeOrderKey(std::string_view key);

}  // namespace forebay::rocks
