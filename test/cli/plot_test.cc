// The same few seconds in characters and as SVG.

#include "source/cli/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "source/base/strings.h"
#include "source/cli/chart.h"
#include "source/cli/svg.h"
#include "source/cli/terminal_text.h"

namespace forebay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Ten seconds of calm, twenty down, ten to drain.
Plot fixedPlot() {
  Plot plot;
  plot.title = "A & B <\"app\"> \x01\xff";
  plot.subtitle = "down for 20 s";
  plot.begin = absl::Seconds(-10);
  plot.outage = absl::Seconds(20);
  plot.panels = {{"Events that wait", {}}, {"Attempts per second", {}}};
  for (int i = 0; i < 40; ++i) {
    plot.panels[0].values.push_back(i < 10 ? 0 : i < 30 ? (i - 9) * 50 : (40 - i) * 100);
    plot.panels[1].values.push_back(i < 10 ? 50 : i < 30 ? 0 : 150);
  }
  return plot;
}

// Whether tags are closed in order, attributes are quoted and no bare `<` or `&` is left. Enough of
// XML for what we write: no comments, no CDATA.
std::string xmlMistake(std::string_view xml) {
  std::vector<std::string> open;
  for (size_t i = 0; i < xml.size();) {
    if (xml[i] == '&') {
      const std::string_view entity = xml.substr(i, xml.find(';', i) - i + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;") {
        return cat("bare & at ", i);
      }
    }
    if (xml[i] != '<') {
      ++i;
      continue;
    }
    const size_t end = xml.find('>', i);
    if (end == std::string_view::npos) {
      return cat("no > after ", i);
    }
    const std::string_view tag = xml.substr(i + 1, end - i - 1);
    const std::string name(tag.substr(0, tag.find_first_of(" /", 1)));
    if (tag.find('<') != std::string_view::npos ||
        std::count(tag.begin(), tag.end(), '"') % 2 != 0) {
      return cat("bad tag at ", i);
    }
    if (tag.starts_with('/')) {
      if (open.empty() || cat("/", open.back()) != tag) {
        return cat("unexpected <", tag, ">");
      }
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
    i = end + 1;
  }
  return open.empty() ? "" : cat("<", open.back(), "> is left open");
}

TEST(PlotTest, PeaksSurviveNarrowColumns) {
  EXPECT_THAT(columnPeaks({1, 9, 2, 3, 0, 0}, 3), ElementsAre(9, 3, 0));
  EXPECT_THAT(columnPeaks({1, 2}, 4), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(columnPeaks({}, 2), ElementsAre(0, 0));
  EXPECT_THAT(columnPeaks({1}, 0), ElementsAre());
}

TEST(PlotTest, TicksAreRound) {
  EXPECT_THAT(valueTicks(0, 4), ElementsAre(0, 0.5));
  EXPECT_THAT(valueTicks(200, 4), ElementsAre(0, 50, 100, 150, 200));
  EXPECT_THAT(valueTicks(360'000, 4), ElementsAre(0, 100'000, 200'000, 300'000, 400'000));
  EXPECT_THAT(timeTicks(absl::Seconds(-10), absl::Seconds(30), 9),
              ElementsAre(absl::Seconds(-10), absl::Seconds(-5), absl::ZeroDuration(),
                          absl::Seconds(5), absl::Seconds(10), absl::Seconds(15), absl::Seconds(20),
                          absl::Seconds(25), absl::Seconds(30)));
  EXPECT_THAT(
      timeTicks(absl::Minutes(-6), absl::Hours(3), 8),
      ElementsAre(absl::ZeroDuration(), absl::Minutes(30), absl::Minutes(60), absl::Minutes(90),
                  absl::Minutes(120), absl::Minutes(150), absl::Minutes(180)));
  EXPECT_LE(timeTicks(absl::Hours(-1), absl::Hours(31 * 24), 9).size(), 17);
  EXPECT_EQ(tickText(400'000), "400,000");
  EXPECT_EQ(tickText(1'500'000), "1.5 M");
}

TEST(ChartTest, DrawsBlocksOnAnAxisThatIsThickWhileDown) {
  EXPECT_EQ(drawChart(fixedPlot(), 47), R"(Events that wait
1,000 ┤                           ▂▅██▂
      │                         ▃▆█████▃
      │                      ▂▅█████████▅
      │                    ▃▆████████████▆
      │                 ▂▅█████████████████▂
      │               ▃▆████████████████████▃
      │            ▂▅████████████████████████▅
      │          ▃▆███████████████████████████▆
    0 ┼──────────━━━━━━━━━━━━━━━━━━━━──────────
Attempts per second
  150 ┤                              ██████████
      │                              ██████████
      │                              ██████████
      │                              ██████████
      │                              ██████████
      │▅▅▅▅▅▅▅▅▅▅                    ██████████
      │██████████                    ██████████
      │██████████                    ██████████
    0 ┼──────────━━━━━━━━━━━━━━━━━━━━──────────
                 down                back
                 0                   20 s  30 s
)");
}

// However narrow or wide: no line is longer than asked for, and nothing to show is no crash.
TEST(ChartTest, FitsTheWidth) {
  for (const size_t columns : {0, 40, 41, 80, 200}) {
    std::istringstream lines(drawChart(fixedPlot(), columns));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(terminalWidth(line), std::max(columns, kChartColumnsMin)) << line;
    }
  }
  Plot empty = fixedPlot();
  empty.panels = {{"nothing", {}}, {"zero", {0}}};
  EXPECT_THAT(drawChart(empty, 80), HasSubstr("zero"));
  EXPECT_EQ(xmlMistake(drawSvg(empty)), "");
}

TEST(ChartTest, ATitleCannotMoveTheCursor) {
  Plot plot = fixedPlot();
  plot.panels[0].title = "\x1b[2J";
  EXPECT_THAT(drawChart(plot, 80), Not(HasSubstr("\x1b")));
}

TEST(SvgTest, IsWellFormedAndSelfContained) {
  const std::string svg = drawSvg(fixedPlot());
  EXPECT_EQ(xmlMistake(svg), "") << svg;
  EXPECT_THAT(svg, HasSubstr("<title>A &amp; B &lt;&quot;app&quot;&gt; \uFFFD\uFFFD</title>"));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme: dark"));
  for (const std::string_view outside : {"href", "url(", "<script", "@import"}) {
    EXPECT_THAT(svg, Not(HasSubstr(std::string(outside))));
  }
}

// The checker must be able to fail.
TEST(SvgTest, TheCheckerSeesMistakes) {
  for (const std::string_view wrong :
       {"<a>", "<a></b>", "<a b=\"></a>", "<a>&x</a>", "<a", "</a>"}) {
    EXPECT_NE(xmlMistake(wrong), "") << wrong;
  }
}

TEST(SvgTest, DrawsAxesBandAndCurves) {
  std::ostringstream golden;
  golden << std::ifstream("test/cli/testdata/plot.svg").rdbuf();
  EXPECT_EQ(drawSvg(fixedPlot()), golden.str());
}

// All panels on one scale when they are to be compared.
TEST(SvgTest, OneScaleForAll) {
  Plot plot = fixedPlot();
  const std::string apart = drawSvg(plot);
  plot.same_scale = true;
  const std::string together = drawSvg(plot);
  EXPECT_THAT(apart, HasSubstr(">150</text>"));
  EXPECT_THAT(together, Not(HasSubstr(">150</text>")));
}

}  // namespace
}  // namespace forebay
