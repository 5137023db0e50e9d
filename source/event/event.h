#pragma once

#include <memory>

#include "api/forebay/v1/event.pb.h"
#include "source/event/event_id.h"

namespace forebay {

inline constexpr uint32_t kRecordFormat = 1;

// A captured request. The stored record is also the form it has in memory: nothing is translated
// between the network, the disk and the app.
struct Event {
  EventId id;  // zero until it is committed
  v1::EventRecord record;
};
using EventPtr = std::shared_ptr<const Event>;

}  // namespace forebay
