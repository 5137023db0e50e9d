#pragma once

#include <string>

#include "api/forebay/v1/event.pb.h"
#include "source/config/config.h"

namespace forebay {

// What orders `record` among its upstream's events: the value of the header (of the first one,
// where it comes several times) or the scalar at the pointer into the body. Empty when there is
// none, or it is empty: the event then has no order.
//
// At most limits::kOrderKeyBytesMax bytes. A longer key is cut, and its last 16 bytes are those of
// the FNV-1a hash (128 bits, the most significant byte first) of the whole. That keeps long keys
// apart that differ at their end, and is the same in every version: stored keys are compared with
// new ones. A sender who makes two keys collide only makes two of his own orders one.
//
// Pure; cheap enough for a worker: one look at the headers, or one pass over the body.
std::string orderKey(const OrderBy& order_by, const v1::EventRecord& record);

}  // namespace forebay
