#pragma once

#include <memory>

namespace rocksdb {
class Env;
}

namespace forebay {

// The machine's disk, with faults on demand in the files of RocksDB's log. Safe from any thread.
class FaultyDisk {
public:
  FaultyDisk();
  ~FaultyDisk();

  rocksdb::Env* env();

  // The next `count` syncs fail with an I/O error, though the data may have reached the disk.
  void failSyncs(int count);
  // The next `count` appends fail: there is no space.
  void failAppends(int count);
  // Every attempt to make a new file fails, until taken back.
  void failNewFiles(bool fail);
  // Syncs wait until this is taken back.
  void holdSyncs(bool hold);
  // Waits until a sync is being held.
  void awaitHeldSync();

  struct Faults;

private:
  const std::shared_ptr<Faults> faults_;
  std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace forebay
