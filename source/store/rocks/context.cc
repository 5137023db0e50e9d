#include "source/store/rocks/context.h"

#include "absl/strings/str_cat.h"

namespace forebay::rocks {

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
  const rocksdb::Status status =
      database->db().Write(sync ? syncedWrite() : unsyncedWrite(), &batch);
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
