#pragma once

#include "source/config/config.h"
#include "source/delivery/transport.h"
#include "source/store/event_store.h"

namespace forebay {

// The request that the app is to receive for this event: the sender's own, less what only
// concerned the hop to us, plus the `forebay-*` headers of the contract. `attempt` is 1, 2, …
OutgoingRequest buildRequest(const LeasedEvent& leased, const UpstreamConfig& upstream,
                             uint32_t attempt, uint64_t token);

}  // namespace forebay
