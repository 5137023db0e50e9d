#include "source/cli/plot.h"

#include <algorithm>
#include <cmath>

#include "source/base/strings.h"
#include "source/cli/plan_text.h"

namespace forebay {
namespace {

constexpr int64_t kRoundSeconds[] = {1,   2,    5,    10,   15,    30,    60,    120,   300,   600,
                                     900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800};

}  // namespace

absl::Duration Plot::end() const {
  size_t longest = 0;
  for (const Panel& panel : panels) {
    longest = std::max(longest, panel.values.size());
  }
  return begin + absl::Seconds(static_cast<int64_t>(longest));
}

std::vector<double> columnPeaks(const std::vector<double>& values, size_t columns) {
  std::vector<double> peaks(columns);
  for (size_t i = 0; i < columns && !values.empty(); ++i) {
    const size_t from = i * values.size() / columns;
    const size_t to = std::max(from + 1, (i + 1) * values.size() / columns);
    peaks[i] = *std::max_element(values.begin() + static_cast<ptrdiff_t>(from),
                                 values.begin() + static_cast<ptrdiff_t>(to));
  }
  return peaks;
}

std::vector<double> valueTicks(double max, size_t count) {
  const double rough = std::max(max, 1.0) / static_cast<double>(std::max<size_t>(count, 1));
  const double magnitude = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * magnitude;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * magnitude >= rough) {
      step = factor * magnitude;
      break;
    }
  }
  std::vector<double> ticks = {0};
  while (ticks.back() < max || ticks.size() < 2) {
    ticks.push_back(step * static_cast<double>(ticks.size()));
  }
  return ticks;
}

std::vector<absl::Duration> timeTicks(absl::Duration begin, absl::Duration end, size_t count) {
  const double length = absl::ToDoubleSeconds(end - begin);
  int64_t step = kRoundSeconds[std::size(kRoundSeconds) - 1];
  for (const int64_t seconds : kRoundSeconds) {
    if (length / static_cast<double>(seconds) <= static_cast<double>(count) - 1) {
      step = seconds;
      break;
    }
  }
  std::vector<absl::Duration> ticks;
  const int64_t first =
      static_cast<int64_t>(std::ceil(absl::ToDoubleSeconds(begin) / static_cast<double>(step)));
  for (int64_t i = first; absl::Seconds(i * step) <= end; ++i) {
    ticks.push_back(absl::Seconds(i * step));
  }
  return ticks;
}

std::string tickText(double value) {
  return value >= 1'000'000 ? cat(decimalText(value / 1'000'000), " M") : decimalText(value);
}

}  // namespace forebay
