#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace forebay {

// What chart and picture have in common: curves over the same time, one below the other.
struct Panel {
  std::string title;           // what is measured, with its unit
  std::vector<double> values;  // not negative; one for each second
};

struct Plot {
  std::string title;
  std::string subtitle;
  // Of the values' first second; the axis counts from the beginning of the outage, so it is
  // negative where there is a time before.
  absl::Duration begin;
  absl::Duration outage;  // from zero on
  std::vector<Panel> panels;
  bool same_scale = false;  // one vertical scale for all, so that they can be compared

  // Where the axis ends: that of the longest panel.
  absl::Duration end() const;
};

// `values` in `columns` columns of equal width, the largest of each: a peak of one second stays
// visible. Fewer values than columns are repeated.
std::vector<double> columnPeaks(const std::vector<double>& values, size_t columns);

// Round numbers from 0 to at least `max`, about `count` steps of them.
std::vector<double> valueTicks(double max, size_t count);
// Round times within [begin, end], at most `count` of them; zero is one.
std::vector<absl::Duration> timeTicks(absl::Duration begin, absl::Duration end, size_t count);
// `350,000`, and from a million on `1.5 M`.
std::string tickText(double value);

}  // namespace forebay
