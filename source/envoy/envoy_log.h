#pragma once

#include "source/base/log.h"

namespace forebay {

// Envoy's log. Lives for ever.
Log& envoyLog();

}  // namespace forebay
