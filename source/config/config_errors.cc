#include "source/config/config_errors.h"

#include "absl/strings/str_join.h"
#include "source/base/strings.h"
#include "source/config/config_limits.h"

namespace forebay {

void ConfigErrors::add(std::string_view path, std::string_view what) {
  tainted_.emplace(path);
  addGeneral(path, what);
}

void ConfigErrors::addGeneral(std::string_view path, std::string_view what) {
  if (lines_.size() == limits::kConfigErrorsMax) {
    ++left_out_;
    return;
  }
  lines_.push_back(cat(path.empty() ? "config" : path, ": ", what));
}

void ConfigErrors::excuse(std::string_view path) { tainted_.emplace(path); }

bool ConfigErrors::isClean(std::string_view path) const {
  if (tainted_.empty()) {
    return true;
  }
  while (!path.empty()) {
    if (tainted_.contains(path)) {
      return false;
    }
    const size_t parent_end = path.find_last_of(".[");
    path = path.substr(0, parent_end == std::string_view::npos ? 0 : parent_end);
  }
  return !tainted_.contains(path);
}

bool ConfigErrors::isCleanThroughout(std::string_view path) const {
  if (!isClean(path)) {
    return false;
  }
  // Sorted: what is in `path` follows it, among longer names that only begin alike.
  for (auto it = tainted_.lower_bound(path); it != tainted_.end() && it->starts_with(path); ++it) {
    const char next = (*it)[path.size()];
    if (next == '.' || next == '[') {
      return false;
    }
  }
  return true;
}

absl::Status ConfigErrors::status() const {
  if (lines_.empty()) {
    return absl::OkStatus();
  }
  std::string text = absl::StrJoin(lines_, "\n");
  if (left_out_ > 0) {
    absl::StrAppend(&text, "\nconfig: ", left_out_, " more mistakes");
  }
  return absl::InvalidArgumentError(text);
}

std::string fieldPath(std::string_view path, std::string_view field) {
  return path.empty() ? std::string(field) : cat(path, ".", field);
}

std::string elementPath(std::string_view path, size_t index) { return cat(path, "[", index, "]"); }

}  // namespace forebay
