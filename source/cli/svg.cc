#include "source/cli/svg.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_format.h"
#include "source/base/strings.h"
#include "source/base/utf8.h"
#include "source/cli/plan_text.h"

namespace forebay {
namespace {

constexpr double kWidth = 840;
constexpr double kLeft = 76;
constexpr double kRight = 20;
constexpr double kTop = 82;
constexpr double kPanelGap = 46;
constexpr double kBottom = 46;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr size_t kColumnsMax = 720;
// Few panels may be tall; many must fit a page.
constexpr double kPanelHeight = 170;
constexpr double kPanelHeightOfMany = 84;
constexpr size_t kMany = 3;

// Colours that hold on both grounds; the second block is for a dark one.
constexpr std::string_view kStyle = R"(<style>
.ground { fill: #ffffff } .ink { fill: #1f2328 } .soft { fill: #59636e }
.grid { stroke: #d8dee4 } .axis { stroke: #8c959f } .outage { fill: #cf222e; fill-opacity: .09 }
.edge { stroke: #cf222e; stroke-dasharray: 3 3 }
.area { fill: #0969da; fill-opacity: .16 } .line { stroke: #0969da; stroke-width: 1.5; fill: none }
text { font: 12px system-ui, sans-serif } .title { font-size: 16px; font-weight: 600 }
@media (prefers-color-scheme: dark) {
.ground { fill: #0d1117 } .ink { fill: #e6edf3 } .soft { fill: #9198a1 }
.grid { stroke: #30363d } .axis { stroke: #6e7681 } .outage { fill: #f85149; fill-opacity: .14 }
.edge { stroke: #f85149 } .area { fill: #4493f8 } .line { stroke: #4493f8 }
}
</style>
)";

// XML knows neither most control characters nor broken UTF-8: both become U+FFFD.
std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Utf8Symbol symbol = firstUtf8Symbol(text);
    if (!symbol.valid || symbol.value < 0x20 || symbol.value == 0xFFFE || symbol.value == 0xFFFF) {
      out.append("\uFFFD");
    } else if (symbol.value == '&') {
      out.append("&amp;");
    } else if (symbol.value == '<') {
      out.append("&lt;");
    } else if (symbol.value == '>') {
      out.append("&gt;");
    } else if (symbol.value == '"') {
      out.append("&quot;");
    } else {
      out.append(text.substr(0, symbol.length));
    }
    text.remove_prefix(symbol.length);
  }
  return out;
}

class Drawing {
public:
  explicit Drawing(const Plot& plot)
      : plot_(plot),
        end_(plot.end()),
        panel_height_(plot.panels.size() > kMany ? kPanelHeightOfMany : kPanelHeight) {}

  std::string draw() && {
    const auto panels = static_cast<double>(plot_.panels.size());
    const double height = kTop + panels * panel_height_ + (panels - 1) * kPanelGap + kBottom;
    absl::StrAppendFormat(&out_,
                          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" "
                          "width=\"%g\" height=\"%g\" role=\"img\">\n",
                          kWidth, height, kWidth, height);
    out_.append(cat("<title>", escaped(plot_.title), "</title>\n<desc>", escaped(plot_.subtitle),
                    "</desc>\n", kStyle));
    absl::StrAppendFormat(&out_, "<rect class=\"ground\" width=\"%g\" height=\"%g\"/>\n", kWidth,
                          height);
    text(kLeft, 26, "start", "ink title", plot_.title);
    text(kLeft, 46, "start", "soft", plot_.subtitle);
    for (size_t i = 0; i < plot_.panels.size(); ++i) {
      const double top = kTop + static_cast<double>(i) * (panel_height_ + kPanelGap);
      panel(plot_.panels[i], top, i + 1 == plot_.panels.size());
    }
    out_.append("</svg>\n");
    return std::move(out_);
  }

private:
  double x(absl::Duration time) const {
    return kLeft + kPlotWidth * absl::FDivDuration(time - plot_.begin, end_ - plot_.begin);
  }

  double topValue(const Panel& panel) const {
    double highest = 0;
    for (const Panel& other : plot_.panels) {
      if (plot_.same_scale || &other == &panel) {
        for (const double value : other.values) {
          highest = std::max(highest, value);
        }
      }
    }
    return highest;
  }

  void text(double at_x, double at_y, std::string_view anchor, std::string_view style,
            std::string_view words) {
    absl::StrAppendFormat(&out_, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">",
                          at_x, at_y, std::string(anchor), std::string(style));
    out_.append(escaped(words)).append("</text>\n");
  }

  void line(double x1, double y1, double x2, double y2, const char* style) {
    absl::StrAppendFormat(&out_,
                          "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n",
                          x1, y1, x2, y2, style);
  }

  void panel(const Panel& panel, double top, bool is_last) {
    const double bottom = top + panel_height_;
    const std::vector<double> ticks =
        valueTicks(topValue(panel), panel_height_ > kPanelHeightOfMany ? 4 : 2);
    const double down = x(absl::ZeroDuration());
    const double back = x(std::min(plot_.outage, end_));
    absl::StrAppendFormat(&out_,
                          "<rect class=\"outage\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                          "height=\"%.1f\"/>\n",
                          down, top, back - down, panel_height_);
    for (const double tick : ticks) {
      const double y = bottom - panel_height_ * tick / ticks.back();
      line(kLeft, y, kWidth - kRight, y, tick == 0 ? "axis" : "grid");
      text(kLeft - 8, y + 4, "end", "soft", tickText(tick));
    }
    text(kLeft, top - 8, "start", "ink", panel.title);
    curve(panel, ticks.back(), bottom);
    line(back, top, back, bottom, "edge");
    for (const absl::Duration tick : timeTicks(plot_.begin, end_, 9)) {
      line(x(tick), bottom, x(tick), bottom + 4, "axis");
      if (is_last) {
        text(x(tick), bottom + 18, "middle", "soft", timeText(tick));
      }
    }
    if (is_last) {
      text(kLeft + kPlotWidth / 2, bottom + 36, "middle", "soft",
           "time since the app went down; shaded: down");
    }
  }

  static std::string timeText(absl::Duration time) {
    return time < absl::ZeroDuration()    ? cat("−", spanText(-time))
           : time == absl::ZeroDuration() ? "0"
                                          : spanText(time);
  }

  void curve(const Panel& panel, double top, double bottom) {
    const size_t columns = std::min(panel.values.size(), kColumnsMax);
    if (columns == 0) {
      return;
    }
    const double width =
        x(plot_.begin + absl::Seconds(static_cast<int64_t>(panel.values.size()))) - kLeft;
    std::string points;
    const std::vector<double> peaks = columnPeaks(panel.values, columns);
    for (size_t i = 0; i < columns; ++i) {
      const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(columns);
      absl::StrAppendFormat(&points, "%s%.1f,%.1f", i == 0 ? "" : " ", kLeft + width * share,
                            bottom - panel_height_ * peaks[i] / top);
    }
    absl::StrAppendFormat(&out_, "<polygon class=\"area\" points=\"%.1f,%.1f %s %.1f,%.1f\"/>\n",
                          kLeft, bottom, points, kLeft + width, bottom);
    absl::StrAppendFormat(&out_, "<polyline class=\"line\" points=\"%s\"/>\n", points);
  }

  const Plot& plot_;
  const absl::Duration end_;
  const double panel_height_;
  std::string out_;
};

}  // namespace

std::string drawSvg(const Plot& plot) { return Drawing(plot).draw(); }

}  // namespace forebay
