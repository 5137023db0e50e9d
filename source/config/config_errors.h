#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace forebay {

// Every mistake found in one configuration, and where. Reading goes on after a mistake, so that a
// user sees all of them at once; what the later steps ask here keeps one mistake from being told
// twice. Paths look like `upstreams[1].retry.attempts_max`; the configuration itself is "".
class ConfigErrors {
public:
  void add(std::string_view path, std::string_view what);

  // About `path` as a whole, while its parts are still worth checking.
  void addGeneral(std::string_view path, std::string_view what);

  // `path` is not wrong itself, but a mistake that was added explains why it is missing.
  void excuse(std::string_view path);

  // Whether the value at `path` can be relied on: nothing was added or excused there or above.
  bool isClean(std::string_view path) const;
  // The same, for `path` and all that is in it.
  bool isCleanThroughout(std::string_view path) const;

  // A list that was given with nothing in it, which a message can't tell from one left out.
  void noteEmptyList(std::string_view path) { empty_lists_.emplace(path); }
  bool isEmptyList(std::string_view path) const { return empty_lists_.contains(path); }

  // OK, or InvalidArgument with one mistake a line.
  absl::Status status() const;

private:
  using Paths = std::set<std::string, std::less<>>;

  std::vector<std::string> lines_;
  size_t left_out_ = 0;
  Paths tainted_;
  Paths empty_lists_;
};

// `field` of what is at `path`, and an element of it.
std::string fieldPath(std::string_view path, std::string_view field);
std::string elementPath(std::string_view path, size_t index);

}  // namespace forebay
