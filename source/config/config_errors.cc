#include "source/config/config_errors.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "source/config/config_limits.h"

namespace forebay {

void ConfigErrors::add(absl::string_view path, absl::string_view what) {
  tainted_.emplace(path);
  addGeneral(path, what);
}

void ConfigErrors::addGeneral(absl::string_view path, absl::string_view what) {
  if (lines_.size() == limits::kConfigErrorsMax) {
    ++left_out_;
    return;
  }
  lines_.push_back(absl::StrCat(path.empty() ? "config" : path, ": ", what));
}

void ConfigErrors::excuse(absl::string_view path) { tainted_.emplace(path); }

bool ConfigErrors::isClean(absl::string_view path) const {
  if (tainted_.empty()) {
    return true;
  }
  while (!path.empty()) {
    if (tainted_.contains(path)) {
      return false;
    }
    const size_t parent_end = path.find_last_of(".[");
    path = path.substr(0, parent_end == absl::string_view::npos ? 0 : parent_end);
  }
  return !tainted_.contains(path);
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

std::string fieldPath(absl::string_view path, absl::string_view field) {
  return path.empty() ? std::string(field) : absl::StrCat(path, ".", field);
}

std::string elementPath(absl::string_view path, size_t index) {
  return absl::StrCat(path, "[", index, "]");
}

}  // namespace forebay
