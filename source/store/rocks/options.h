#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"

namespace forebay::rocks {

// The column families, in the order in which they are opened. keys.h says what they hold.
enum class Family { Meta, Events, State, Attempts, Due, SetAside, Order };
inline constexpr size_t kFamilies = 7;

// What the whole database may use, whatever the backlog.
inline constexpr size_t kWriteBufferBytesMax = 32 << 20;
inline constexpr size_t kBlockCacheBytes = 16 << 20;
inline constexpr size_t kBlobBytesMin = 16 << 10;

// Every option that we rely on, with the reason. `env` must outlive the database.
rocksdb::DBOptions databaseOptions(rocksdb::Env* env);
std::vector<rocksdb::ColumnFamilyDescriptor> familyOptions();

// The one write that an acknowledgement waits for; and those that it makes durable in passing.
rocksdb::WriteOptions syncedWrite();
rocksdb::WriteOptions unsyncedWrite();

}  // namespace forebay::rocks
