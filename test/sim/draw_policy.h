#pragma once

#include "api/forebay/v1/config.pb.h"
#include "test/sim/draw.h"

namespace forebay::sim {

// Fills in the policies that `upstream` leaves out, anywhere within what users may write and what
// a simulated day can show.
void drawPolicy(v1::BootstrapConfig::Upstream& upstream, Draw& draw);

}  // namespace forebay::sim
