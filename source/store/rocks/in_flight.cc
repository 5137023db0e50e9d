#include "source/store/rocks/in_flight.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "source/base/limits.h"

namespace forebay::rocks {
namespace {

struct Header {
  char magic[16] = "forebayinflight";
  uint32_t version = 1;
  char boot[44] = {};
};
static_assert(sizeof(Header) == 64);
static_assert(sizeof(EventId) == EventId::kBytes, "slots are written as they are in memory");

// Slots this near to each other are written with one call.
constexpr uint32_t kNear = 64;

off_t offsetOf(size_t slot) { return static_cast<off_t>(sizeof(Header) + slot * EventId::kBytes); }

}  // namespace

std::string machineBoot() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  return boot;
}

InFlight::InFlight(const std::string& directory, std::string boot, Log& log)
    : path_(directory + "/in_flight"), boot_(std::move(boot)), log_(log) {}

InFlight::~InFlight() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

InFlight::Left InFlight::read() const {
  Left left;
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return left;  // a new store; begin() says if it is something else
  }
  Header header;
  const Header expected;
  if (::read(fd, &header, sizeof(header)) == sizeof(header) &&
      memcmp(header.magic, expected.magic, sizeof(header.magic)) == 0 &&
      header.version == expected.version) {
    header.boot[sizeof(header.boot) - 1] = '\0';
    left.same_boot = !boot_.empty() && boot_ == header.boot;
    std::vector<EventId> slots(limits::kInFlightSlots);
    const ssize_t bytes = pread(fd, slots.data(), slots.size() * sizeof(EventId), offsetOf(0));
    slots.resize(bytes > 0 ? static_cast<size_t>(bytes) / sizeof(EventId) : 0);
    std::copy_if(slots.begin(), slots.end(), std::back_inserter(left.ids),
                 [](const EventId& id) { return !id.isZero(); });
  }
  close(fd);
  return left;
}

void InFlight::begin() {
  if (fd_ < 0) {
    fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  }
  Header header;
  boot_.copy(header.boot, sizeof(header.boot) - 1);
  if (fd_ < 0 || ftruncate(fd_, 0) != 0 || fchmod(fd_, 0600) != 0 ||
      pwrite(fd_, &header, sizeof(header), 0) != sizeof(header)) {
    giveUp("begin");
    return;
  }
  slots_.clear();
  free_.clear();
  changed_.clear();
  slot_of_.clear();
}

void InFlight::write(uint32_t slot, const EventId& id) {
  slots_[slot] = id;
  changed_.push_back(slot);
}

void InFlight::add(absl::Span<const EventId> ids) {
  if (fd_ < 0) {
    return;
  }
  for (const EventId& id : ids) {
    if (free_.empty()) {
      if (slots_.size() == limits::kInFlightSlots) {
        if (!full_) {
          full_ = true;
          log_.warn(absl::StrCat(path_, ": full; some events are not guarded against crashes"));
        }
        break;
      }
      free_.push_back(static_cast<uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const auto [entry, added] = slot_of_.try_emplace(id, free_.back());
    if (added) {
      free_.pop_back();
      write(entry->second, id);
    }
  }
  flush();
}

void InFlight::remove(absl::Span<const EventId> ids) {
  if (fd_ < 0) {
    return;
  }
  for (const EventId& id : ids) {
    const auto found = slot_of_.find(id);
    if (found != slot_of_.end()) {
      write(found->second, EventId());
      free_.push_back(found->second);
      slot_of_.erase(found);
    }
  }
  flush();
}

void InFlight::flush() {
  std::sort(changed_.begin(), changed_.end());
  size_t from = 0;
  while (from < changed_.size()) {
    size_t to = from + 1;
    while (to < changed_.size() && changed_[to] - changed_[to - 1] <= kNear) {
      ++to;
    }
    const uint32_t first = changed_[from];
    const size_t bytes = (changed_[to - 1] - first + 1) * sizeof(EventId);
    if (pwrite(fd_, &slots_[first], bytes, offsetOf(first)) != static_cast<ssize_t>(bytes)) {
      giveUp("write");
      return;
    }
    from = to;
  }
  changed_.clear();
}

void InFlight::end() {
  if (fd_ >= 0) {
    begin();
  }
}

void InFlight::giveUp(const char* what) {
  log_.warn(absl::StrCat(path_, ": ", what, ": ", strerror(errno),
                         "; events are not guarded against crashes"));
  if (fd_ >= 0) {
    // What it says is no longer true.
    if (ftruncate(fd_, 0) != 0) {
      unlink(path_.c_str());
    }
    close(fd_);
    fd_ = -1;
  }
}

}  // namespace forebay::rocks
