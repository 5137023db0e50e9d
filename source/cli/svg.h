#pragma once

#include <string>

#include "source/cli/plot.h"

namespace forebay {

// The plot as an SVG file that needs nothing else, in light and in dark. Text is escaped.
std::string drawSvg(const Plot& plot);

}  // namespace forebay
