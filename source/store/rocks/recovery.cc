#include "source/store/rocks/recovery.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "source/store/rocks/high_water_mark.h"

namespace forebay::rocks {
namespace {

std::string acceptLossHint(const std::string& path) {
  return absl::StrCat("restore a backup, or accept the loss with: forebay store accept-loss ",
                      path);
}

// Whether the directory holds what only a database can have left there.
bool holdsData(const std::string& path) {
  DIR* const dir = opendir(path.c_str());
  if (dir == nullptr) {
    return false;
  }
  bool found = false;
  while (const dirent* const entry = readdir(dir)) {
    const absl::string_view name(entry->d_name);
    found = found || absl::EndsWith(name, ".sst") || absl::EndsWith(name, ".log") ||
            absl::EndsWith(name, ".blob");
  }
  closedir(dir);
  return found;
}

absl::StatusOr<OpenMode> existingOrCreate(const std::string& path, uint64_t mark) {
  if (access((path + "/CURRENT").c_str(), F_OK) == 0) {
    return OpenMode::Existing;
  }
  // A creation that was interrupted leaves neither logs nor tables.
  if (mark > 0 || holdsData(path)) {
    return absl::DataLossError(absl::StrCat(
        "store ", path, ": its file CURRENT is missing though events were stored (", mark,
        " acknowledged); restore a backup, or move the directory away to begin anew"));
  }
  return OpenMode::Create;
}

absl::Status writeFormat(Database& database, const std::string& path) {
  rocksdb::WriteBatch batch;
  batch.Put(toSlice(kFormatKey), std::to_string(kStoreFormat));
  batch.Put(toSlice(kSequenceKey), encodePosition({}));
  return toStatus(database.db().Write(syncedWrite(), &batch),
                  absl::StrCat("store ", path, ": write the format"));
}

// The newest record of `family`; a zero id when there is none.
absl::StatusOr<EventId> newestIn(Database& database, Family family) {
  const auto iterator = database.iterate(family, nullptr, nullptr, true);
  iterator->SeekToLast();
  if (!iterator->status().ok()) {
    return toStatus(iterator->status(), "read the newest record");
  }
  return iterator->Valid() ? EventId::fromBytes(toView(iterator->key())) : EventId();
}

// A lost log loses each family's unflushed tail: they then no longer end with the same event.
absl::Status checkFamiliesAgree(Database& database, const Position& position,
                                const std::string& path) {
  for (const Family family : {Family::Events, Family::State}) {
    const absl::StatusOr<EventId> newest = newestIn(database, family);
    if (!newest.ok()) {
      return newest.status();
    }
    if (*newest != position.newest) {
      return absl::DataLossError(absl::StrCat(
          "store ", path, ": its tables disagree on the newest event (", position.newest.toString(),
          " and ", newest->toString(), "), so a log file was lost; ", acceptLossHint(path)));
    }
  }
  return absl::OkStatus();
}

uint64_t readMark(const std::string& path, Log& log) {
  const absl::StatusOr<std::optional<uint64_t>> mark = HighWaterMark(path).read();
  if (!mark.ok()) {
    log.warn(absl::StrCat("store ", path,
                          ": can't check for lost events: ", std::string(mark.status().message())));
    return 0;
  }
  return mark->value_or(0);
}

absl::Status checkMark(const Position& position, uint64_t mark, const std::string& path) {
  if (position.sequence >= mark) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(
      "store ", path, ": ", mark - position.sequence, " acknowledged events are missing (",
      position.sequence, " found, ", mark, " acknowledged); ", acceptLossHint(path)));
}

absl::StatusOr<std::unique_ptr<Database>> openChecked(const std::string& path, rocksdb::Env* env,
                                                      OpenMode mode) {
  if (mode == OpenMode::Existing) {
    // Looks before it touches: an open for writing changes files.
    const absl::Status format = checkFormatIfReadable(path, env);
    if (!format.ok()) {
      return format;
    }
  }
  absl::StatusOr<std::unique_ptr<Database>> database = Database::open(path, env, mode);
  if (!database.ok() && absl::IsDataLoss(database.status())) {
    return absl::DataLossError(
        absl::StrCat(std::string(database.status().message()), "; ", acceptLossHint(path)));
  }
  return database;
}

}  // namespace

absl::Status makeDirectory(const std::string& path) {
  const auto failed = [&](const char* what) {
    return absl::FailedPreconditionError(
        absl::StrCat("store ", path, ": ", what, ": ", strerror(errno)));
  };
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return failed("can't create the directory");
  }
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return failed("can't look at it");
  }
  if (!S_ISDIR(info.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat("store ", path, ": not a directory"));
  }
  if (access(path.c_str(), R_OK | W_OK | X_OK) != 0) {
    return failed("can't write into the directory");
  }
  return absl::OkStatus();
}

absl::Status checkNotLocked(const std::string& path, rocksdb::Env* env) {
  rocksdb::FileLock* lock = nullptr;
  const rocksdb::Status status = env->LockFile(path + "/LOCK", &lock);
  if (!status.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "store ", path, ": in use by another process, or by this one (", status.ToString(), ")"));
  }
  return toStatus(env->UnlockFile(lock), absl::StrCat("store ", path, ": unlock"));
}

absl::Status checkFormat(Database& database, const std::string& path) {
  std::string value;
  const rocksdb::Status status = database.get(Family::Meta, kFormatKey, &value);
  if (status.IsNotFound()) {
    return absl::OkStatus();  // its creation was interrupted
  }
  uint32_t format = 0;
  if (!status.ok() || !absl::SimpleAtoi(value, &format)) {
    return absl::DataLossError(absl::StrCat("store ", path, ": its format can't be read (",
                                            status.ToString(), ", \"", printable(value), "\")"));
  }
  if (format > kStoreFormat) {
    return absl::FailedPreconditionError(
        absl::StrCat("store ", path, ": written in format ", format,
                     " by a newer version; this one reads format ", kStoreFormat));
  }
  if (format < kStoreFormat) {
    return absl::FailedPreconditionError(
        absl::StrCat("store ", path, ": written in format ", format,
                     " by a version that was never released; this one reads format ", kStoreFormat,
                     "; move the directory away to begin anew"));
  }
  if (database.get(Family::Meta, kRepairingKey, &value).ok()) {
    return absl::DataLossError(
        absl::StrCat("store ", path, ": a repair was interrupted; ", acceptLossHint(path)));
  }
  return absl::OkStatus();
}

absl::Status checkFormatIfReadable(const std::string& path, rocksdb::Env* env) {
  const absl::StatusOr<std::unique_ptr<Database>> look = Database::open(path, env, OpenMode::Look);
  return look.ok() ? checkFormat(**look, path) : absl::OkStatus();
}

absl::StatusOr<Position> readPosition(Database& database) {
  std::string value;
  const rocksdb::Status status = database.get(Family::Meta, kSequenceKey, &value);
  if (!status.ok() && !status.IsNotFound()) {
    return toStatus(status, "read the sequence");
  }
  const std::optional<Position> position =
      status.ok() ? decodePosition(value) : std::optional<Position>(Position{});
  if (!position.has_value()) {
    return absl::DataLossError("the sequence record is damaged");
  }
  return *position;
}

absl::StatusOr<std::map<std::string, LaneSums>> readSums(Database& database) {
  std::map<std::string, LaneSums> lanes;
  const auto iterator = database.iterate(Family::Meta, nullptr, nullptr, true);
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    const std::string_view key = toView(iterator->key());
    const bool accepted = key.starts_with(kAcceptedPrefix);
    if (!accepted && !key.starts_with(kSettledPrefix)) {
      continue;
    }
    v1::LaneCounts counts;
    if (!counts.ParseFromArray(iterator->value().data(),
                               static_cast<int>(iterator->value().size()))) {
      return absl::DataLossError(absl::StrCat("the sums ", printable(key), " are damaged"));
    }
    const size_t prefix = accepted ? kAcceptedPrefix.size() : kSettledPrefix.size();
    LaneSums& sums = lanes[std::string(key.substr(prefix))];
    if (accepted) {
      sums.accepted = counts.accepted();
    } else {
      sums.settled = counts;
    }
  }
  if (!iterator->status().ok()) {
    return toStatus(iterator->status(), "read the sums");
  }
  return lanes;
}

absl::StatusOr<Recovered> recover(const std::string& path, rocksdb::Env* env, Log& log) {
  absl::Status status = makeDirectory(path);
  if (status.ok()) {
    status = checkNotLocked(path, env);
  }
  if (!status.ok()) {
    return status;
  }
  const uint64_t mark = readMark(path, log);
  const absl::StatusOr<OpenMode> mode = existingOrCreate(path, mark);
  if (!mode.ok()) {
    return mode.status();
  }
  absl::StatusOr<std::unique_ptr<Database>> database = openChecked(path, env, *mode);
  if (!database.ok()) {
    return database.status();
  }
  status = checkFormat(**database, path);
  if (!status.ok()) {
    return status;
  }
  const absl::StatusOr<Position> position = readPosition(**database);
  if (!position.ok()) {
    return position.status();
  }
  status = checkMark(*position, mark, path);
  if (status.ok()) {
    status = checkFamiliesAgree(**database, *position, path);
  }
  if (!status.ok()) {
    return status;
  }
  absl::StatusOr<std::map<std::string, LaneSums>> lanes = readSums(**database);
  if (!lanes.ok()) {
    return lanes.status();
  }
  std::string format;
  if ((*database)->get(Family::Meta, kFormatKey, &format).IsNotFound()) {
    status = writeFormat(**database, path);
    if (!status.ok()) {
      return status;
    }
  }
  return Recovered{*std::move(database), *position, *std::move(lanes)};
}

}  // namespace forebay::rocks
