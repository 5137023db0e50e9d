#include "source/store/rocks/database.h"

#include "absl/strings/str_cat.h"

namespace forebay::rocks {

absl::Status toStatus(const rocksdb::Status& status, const std::string& what) {
  if (status.ok()) {
    return absl::OkStatus();
  }
  const std::string message = absl::StrCat(what, ": ", status.ToString());
  if (status.IsNotFound()) {
    return absl::NotFoundError(message);
  }
  if (status.IsCorruption()) {
    return absl::DataLossError(message);
  }
  return absl::UnavailableError(message);
}

absl::StatusOr<std::unique_ptr<Database>> Database::open(const std::string& path, rocksdb::Env* env,
                                                         OpenMode mode) {
  rocksdb::DBOptions options = databaseOptions(env);
  options.create_if_missing = mode == OpenMode::Create;
  if (mode == OpenMode::Salvage) {
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
    options.track_and_verify_wals_in_manifest = false;
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> families = familyOptions();
  if (mode == OpenMode::Look) {
    families.resize(1);
  }
  std::unique_ptr<Database> database(new Database);
  const rocksdb::Status status =
      mode == OpenMode::ReadOnly || mode == OpenMode::Look
          ? rocksdb::DB::OpenForReadOnly(options, path, families, &database->handles_,
                                         &database->db_)
          : rocksdb::DB::Open(options, path, families, &database->handles_, &database->db_);
  if (!status.ok()) {
    return toStatus(status, absl::StrCat("store ", path));
  }
  return database;
}

Database::~Database() {
  for (rocksdb::ColumnFamilyHandle* const handle : handles_) {
    // Fails only for a handle that is not ours.
    db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
}

rocksdb::Status Database::get(Family from, std::string_view key, std::string* value) {
  return db_->Get(rocksdb::ReadOptions(), family(from), toSlice(key), value);
}

std::unique_ptr<rocksdb::Iterator> Database::iterate(Family from_family, const rocksdb::Slice* from,
                                                     const rocksdb::Slice* to, bool fill_cache) {
  rocksdb::ReadOptions options;
  options.iterate_lower_bound = from;
  options.iterate_upper_bound = to;
  options.fill_cache = fill_cache;
  return std::unique_ptr<rocksdb::Iterator>(db_->NewIterator(options, family(from_family)));
}

bool stepOver(rocksdb::Iterator& iterator, std::string key, bool forward) {
  for (size_t bit = 0; bit < 8 * key.size(); ++bit) {
    // The key as one big number, plus or minus 2^bit.
    int carry = 1 << (bit % 8);
    for (size_t i = key.size() - bit / 8; i > 0 && carry != 0; --i) {
      const int digit = static_cast<uint8_t>(key[i - 1]) + (forward ? carry : -carry);
      key[i - 1] = static_cast<char>(digit & 0xff);
      carry = digit < 0 || digit > 0xff ? 1 : 0;
    }
    if (forward) {
      iterator.Seek(key);
    } else {
      iterator.SeekForPrev(key);
    }
    if (iterator.status().ok()) {
      return true;
    }
  }
  return false;
}

}  // namespace forebay::rocks
