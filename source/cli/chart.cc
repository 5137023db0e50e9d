#include "source/cli/chart.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "source/base/strings.h"
#include "source/cli/plan_text.h"
#include "source/cli/terminal_text.h"

namespace forebay {
namespace {

constexpr size_t kRows = 8;
constexpr std::string_view kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr int kEighths = 8;

std::string padLeft(const std::string& text, size_t width) {
  return std::string(width - std::min(width, terminalWidth(text)), ' ') + text;
}

// Lays labels on one line, each from its column on, and leaves out what would overlap.
class LabelLine {
public:
  explicit LabelLine(size_t columns) : columns_(columns) {}

  void put(size_t column, const std::string& label) {
    const size_t width = terminalWidth(label);
    column = std::min(column, columns_ - std::min(columns_, width));
    if (used_ == 0 || column >= used_ + 2) {
      line_.append(column - used_, ' ').append(label);
      used_ = column + width;
    }
  }
  const std::string& line() const { return line_; }

private:
  const size_t columns_;
  std::string line_;
  size_t used_ = 0;
};

// Where things are on the horizontal axis.
struct Axis {
  absl::Duration begin;
  absl::Duration length;
  size_t columns;

  size_t column(absl::Duration time) const {
    const double share = absl::FDivDuration(time - begin, length);
    return static_cast<size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(columns));
  }
};

void drawPanel(const Panel& panel, double top, const Axis& axis, size_t margin, std::string& out) {
  out.append(cat(terminalText(panel.title), "\n"));
  const size_t own =
      axis.column(axis.begin + absl::Seconds(static_cast<int64_t>(panel.values.size())));
  const std::vector<double> peaks = columnPeaks(panel.values, own);
  for (size_t row = kRows; row-- > 0;) {
    const bool labelled = row + 1 == kRows;
    std::string line = padLeft(labelled ? tickText(top) : "", margin) + (labelled ? " ┤" : " │");
    for (const double peak : peaks) {
      // Whatever is more than nothing shows as a sliver.
      const double eighths = peak / top * kRows * kEighths;
      const int filled = static_cast<int>(peak > 0 ? std::max(1.0, std::round(eighths)) : 0);
      line.append(kBlocks[std::clamp(filled - static_cast<int>(row) * kEighths, 0, kEighths)]);
    }
    out.append(line.substr(0, line.find_last_not_of(' ') + 1)).append("\n");
  }
}

}  // namespace

std::string drawChart(const Plot& plot, size_t columns) {
  columns = std::max(columns, kChartColumnsMin);
  double highest = 0;
  size_t margin = 1;
  for (const Panel& panel : plot.panels) {
    for (const double value : panel.values) {
      highest = std::max(highest, value);
    }
  }
  std::vector<double> tops;
  for (const Panel& panel : plot.panels) {
    const double own =
        panel.values.empty() ? 0 : *std::max_element(panel.values.begin(), panel.values.end());
    tops.push_back(valueTicks(plot.same_scale ? highest : own, 4).back());
    margin = std::max(margin, terminalWidth(tickText(tops.back())));
  }
  const Axis axis{plot.begin, plot.end() - plot.begin, columns - margin - 2};
  const size_t down = axis.column(absl::ZeroDuration());
  const size_t back = axis.column(plot.outage);

  std::string out;
  for (size_t i = 0; i < plot.panels.size(); ++i) {
    drawPanel(plot.panels[i], tops[i], axis, margin, out);
    out.append(padLeft("0", margin)).append(" ┼");
    for (size_t column = 0; column < axis.columns; ++column) {
      out.append(column >= down && column < std::max(back, down + 1) ? "━" : "─");
    }
    out.append("\n");
  }
  LabelLine names(axis.columns);
  names.put(down, "down");
  names.put(back, "back");
  LabelLine times(axis.columns);
  times.put(down, "0");
  const std::string end = spanText(plot.end());
  const std::string outage = spanText(plot.outage);
  // Left of where it belongs rather than not at all.
  const size_t room = axis.columns - std::min(axis.columns, end.size() + outage.size() + 2);
  times.put(std::min(back, room), outage);
  times.put(axis.columns, end);
  const std::string indent(margin + 2, ' ');
  out.append(cat(indent, names.line(), "\n", indent, times.line(), "\n"));
  return out;
}

}  // namespace forebay
