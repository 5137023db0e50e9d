#include "source/config/closest.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"

namespace forebay {

namespace {

// No field's name is longer, and the distance costs the product of the lengths.
constexpr size_t kNameBytesLookedAt = 64;

std::string essence(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c != '_' && c != '-') {
      letters.push_back(absl::ascii_tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

// How many letters must be added, dropped, changed, or swapped with their neighbour.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const size_t changed = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({changed, cost[i - 1][j] + 1, cost[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string_view closest(std::string_view name, const std::vector<std::string_view>& candidates) {
  if (name.size() > kNameBytesLookedAt) {
    return {};
  }
  const std::string wanted = essence(name);
  std::string_view best;
  // A third of the letters may be wrong: more would be guessing.
  size_t best_distance = std::max<size_t>(1, wanted.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const size_t candidate_distance = distance(wanted, essence(candidate));
    if (candidate_distance < best_distance) {
      best = candidate;
      best_distance = candidate_distance;
    }
  }
  return best;
}

}  // namespace forebay
