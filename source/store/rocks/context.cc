#include "source/store/rocks/context.h"

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace forebay::rocks {
namespace {

// How long a write waits for RocksDB to catch up before its senders are told to come back.
constexpr absl::Duration kStallPatience = absl::Milliseconds(250);
constexpr absl::Duration kStallPause = absl::Milliseconds(2);

}  // namespace

absl::Status StoreContext::notOpen() const {
  const std::string reason = gate.reason();
  return absl::UnavailableError(
      absl::StrCat("store ", path, " is not open", reason.empty() ? "" : ": ", reason));
}

absl::Status StoreContext::write(rocksdb::WriteBatch& batch, bool sync, const char* what) {
  if (database == nullptr) {
    return notOpen();
  }
  if (gate.broken()) {
    return absl::UnavailableError(gate.reason());
  }
  const rocksdb::WriteOptions options = sync ? syncedWrite() : unsyncedWrite();
  rocksdb::Status status = database->db().Write(options, &batch);
  // Nothing was written when RocksDB only would have stalled, so the same can be tried again.
  for (absl::Duration waited; status.IsIncomplete() && waited < kStallPatience;
       waited += kStallPause) {
    absl::SleepFor(kStallPause);
    status = database->db().Write(options, &batch);
  }
  if (status.ok()) {
    return absl::OkStatus();
  }
  const std::string message = absl::StrCat(what, ": ", status.ToString());
  if (!status.IsIncomplete()) {
    gate.breakDown(message);
  }
  return absl::UnavailableError(message);
}

}  // namespace forebay::rocks
