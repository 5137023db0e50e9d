#include "source/store/rocks/high_water_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace forebay::rocks {
namespace {

constexpr char kTitle[] = "forebay high-water mark";
constexpr char kName[] = "/HIGH_WATER_MARK";

// CRC-32 as in zlib. The text is 30 bytes, so it needs no table.
uint32_t crc32(absl::string_view text) {
  uint32_t crc = ~uint32_t{0};
  for (const char c : text) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
    }
  }
  return ~crc;
}

std::string encode(uint64_t sequence) {
  const std::string text = absl::StrCat(kTitle, "\nsequence ", sequence, "\n");
  return absl::StrCat(text, "crc ", absl::Hex(crc32(text), absl::kZeroPad8), "\n");
}

absl::Status failed(const char* what, const std::string& path) {
  return absl::UnavailableError(absl::StrCat(path, ": ", what, ": ", strerror(errno)));
}

absl::Status writeFile(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) {
    return failed("open", path);
  }
  absl::Status status;
  if (write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    status = failed("write", path);
  } else if (fdatasync(fd) != 0) {
    status = failed("fdatasync", path);
  }
  close(fd);
  return status;
}

absl::Status syncDirectory(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    return failed("open", path);
  }
  const absl::Status status = fsync(fd) == 0 ? absl::OkStatus() : failed("fsync", path);
  close(fd);
  return status;
}

}  // namespace

HighWaterMark::HighWaterMark(const std::string& directory)
    : directory_(directory), path_(directory + kName) {}

absl::StatusOr<std::optional<uint64_t>> HighWaterMark::read() const {
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) {
      return std::optional<uint64_t>();
    }
    return failed("open", path_);
  }
  char buffer[256];
  const ssize_t size = ::read(fd, buffer, sizeof(buffer));
  close(fd);
  if (size < 0) {
    return failed("read", path_);
  }
  const absl::string_view text(buffer, static_cast<size_t>(size));
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  uint64_t sequence = 0;
  if (lines.size() < 2 || !absl::SimpleAtoi(lines[1].substr(lines[1].find(' ') + 1), &sequence) ||
      encode(sequence) != text) {
    return absl::DataLossError(absl::StrCat(path_, ": damaged"));
  }
  return std::optional<uint64_t>(sequence);
}

absl::Status HighWaterMark::write(uint64_t sequence) const {
  const std::string temporary = path_ + ".new";
  absl::Status status = writeFile(temporary, encode(sequence));
  if (status.ok() && rename(temporary.c_str(), path_.c_str()) != 0) {
    status = failed("rename", temporary);
  }
  return status.ok() ? syncDirectory(directory_) : status;
}

}  // namespace forebay::rocks
