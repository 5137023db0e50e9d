// docs/metrics.md has a row for every metric, with its labels, and none that does not exist.

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "source/base/stats.h"
#include "source/base/strings.h"

namespace forebay {
namespace {

template <size_t kCount>
void addRows(const StatSpec (&specs)[kCount], std::set<std::string>& rows) {
  for (const StatSpec& spec : specs) {
    const std::string labels = spec.labelCount() == 2 ? cat(spec.label[0], ", ", spec.label[1])
                                                      : std::string(spec.label[0]);
    rows.insert(labels.empty() ? cat("| `", spec.name, "` | |")
                               : cat("| `", spec.name, "` | ", labels, " |"));
  }
}

TEST(MetricsDocsTest, PageAndTableAgree) {
  std::set<std::string> expected;
  addRows(kCounters, expected);
  addRows(kGauges, expected);
  addRows(kHistograms, expected);

  std::ifstream page("docs/metrics.md");
  ASSERT_TRUE(page) << "docs/metrics.md is not there";
  std::set<std::string> found;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("| `", 0) == 0) {
      const size_t second_bar = line.find('|', 1);
      found.insert(line.substr(0, line.find('|', second_bar + 1) + 1));
    }
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace forebay
