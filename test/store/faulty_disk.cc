#include "test/store/faulty_disk.h"

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"

namespace forebay {

struct FaultyDisk::Faults {
  absl::Mutex mutex;
  int failing_syncs ABSL_GUARDED_BY(mutex) = 0;
  int failing_appends ABSL_GUARDED_BY(mutex) = 0;
  bool no_new_files ABSL_GUARDED_BY(mutex) = false;
  bool hold ABSL_GUARDED_BY(mutex) = false;
  bool holding ABSL_GUARDED_BY(mutex) = false;

  rocksdb::IOStatus beforeSync() {
    absl::MutexLock lock(&mutex);
    holding = hold;
    const auto released = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !hold; };
    mutex.Await(absl::Condition(&released));
    holding = false;
    if (failing_syncs > 0) {
      --failing_syncs;
      return rocksdb::IOStatus::IOError("injected: fdatasync failed");
    }
    return rocksdb::IOStatus::OK();
  }

  rocksdb::IOStatus beforeAppend() {
    absl::MutexLock lock(&mutex);
    if (failing_appends > 0) {
      --failing_appends;
      return rocksdb::IOStatus::NoSpace("injected: no space");
    }
    return rocksdb::IOStatus::OK();
  }
};

namespace {

class FaultyFile final : public rocksdb::FSWritableFileOwnerWrapper {
public:
  FaultyFile(std::unique_ptr<rocksdb::FSWritableFile> file,
             std::shared_ptr<FaultyDisk::Faults> faults)
      : FSWritableFileOwnerWrapper(std::move(file)), faults_(std::move(faults)) {}

  using FSWritableFileOwnerWrapper::Append;
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus status = faults_->beforeAppend();
    return status.ok() ? FSWritableFileOwnerWrapper::Append(data, options, debug) : status;
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                         rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus status = faults_->beforeSync();
    return status.ok() ? FSWritableFileOwnerWrapper::Sync(options, debug) : status;
  }

private:
  const std::shared_ptr<FaultyDisk::Faults> faults_;
};

class FaultyFileSystem final : public rocksdb::FileSystemWrapper {
public:
  explicit FaultyFileSystem(std::shared_ptr<FaultyDisk::Faults> faults)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), faults_(std::move(faults)) {}

  const char* Name() const override { return "FaultyFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override {
    {
      absl::MutexLock lock(&faults_->mutex);
      if (faults_->no_new_files) {
        return rocksdb::IOStatus::IOError("injected: can't create", name);
      }
    }
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(name, options, result, debug);
    if (status.ok() && name.ends_with(".log")) {
      *result = std::make_unique<FaultyFile>(std::move(*result), faults_);
    }
    return status;
  }

private:
  const std::shared_ptr<FaultyDisk::Faults> faults_;
};

}  // namespace

FaultyDisk::FaultyDisk()
    : faults_(std::make_shared<Faults>()),
      env_(rocksdb::NewCompositeEnv(std::make_shared<FaultyFileSystem>(faults_))) {}

FaultyDisk::~FaultyDisk() = default;

rocksdb::Env* FaultyDisk::env() { return env_.get(); }

void FaultyDisk::failSyncs(int count) {
  absl::MutexLock lock(&faults_->mutex);
  faults_->failing_syncs = count;
}

void FaultyDisk::failAppends(int count) {
  absl::MutexLock lock(&faults_->mutex);
  faults_->failing_appends = count;
}

void FaultyDisk::failNewFiles(bool fail) {
  absl::MutexLock lock(&faults_->mutex);
  faults_->no_new_files = fail;
}

void FaultyDisk::holdSyncs(bool hold) {
  absl::MutexLock lock(&faults_->mutex);
  faults_->hold = hold;
}

void FaultyDisk::awaitHeldSync() {
  absl::MutexLock lock(&faults_->mutex);
  faults_->mutex.Await(absl::Condition(&faults_->holding));
}

}  // namespace forebay
