#include "source/store/rocks/space_guard.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace forebay::rocks {
namespace {

constexpr double kHysteresis = 0.05;

}  // namespace

absl::StatusOr<Space> measureSpace(const std::string& directory) {
  DIR* const dir = opendir(directory.c_str());
  if (dir == nullptr) {
    return absl::UnavailableError(absl::StrCat(directory, ": opendir: ", strerror(errno)));
  }
  Space space;
  while (const dirent* const entry = readdir(dir)) {
    struct stat info {};
    // A file may be gone since it was listed: RocksDB deletes what it has compacted.
    if (fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(info.st_mode)) {
      space.store_bytes += static_cast<uint64_t>(info.st_size);
    }
  }
  closedir(dir);
  struct statvfs disk {};
  if (statvfs(directory.c_str(), &disk) != 0) {
    return absl::UnavailableError(absl::StrCat(directory, ": statvfs: ", strerror(errno)));
  }
  space.free_bytes = static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize;
  return space;
}

const std::string& SpaceGuard::look(const Space& space) {
  const double slack = reason_.empty() ? 0 : kHysteresis;
  const double size_max = static_cast<double>(size_max_bytes_) * (1 - slack);
  const double free_min = static_cast<double>(free_disk_min_bytes_) * (1 + slack);
  if (static_cast<double>(space.store_bytes) > size_max) {
    reason_ = absl::StrCat("the store is full: ", space.store_bytes, " bytes of ", size_max_bytes_);
  } else if (static_cast<double>(space.free_bytes) < free_min) {
    reason_ = absl::StrCat("the disk is full: ", space.free_bytes, " bytes are free, at least ",
                           free_disk_min_bytes_, " are wanted");
  } else {
    reason_.clear();
  }
  return reason_;
}

}  // namespace forebay::rocks
