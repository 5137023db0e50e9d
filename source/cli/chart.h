#pragma once

#include <cstddef>
#include <string>

#include "source/cli/plot.h"

namespace forebay {

inline constexpr size_t kChartColumnsMin = 40;

// The plot in characters, `columns` wide (kChartColumnsMin at least). A column shows its largest
// second; the axis is drawn thick while the app is down.
std::string drawChart(const Plot& plot, size_t columns);

}  // namespace forebay
