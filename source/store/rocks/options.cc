#include "source/store/rocks/options.h"

#include "rocksdb/cache.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/table_properties_collectors.h"
#include "source/base/limits.h"
#include "source/store/rocks/keys.h"

namespace forebay::rocks {
namespace {

using limits::kKiB;
using limits::kMiB;

rocksdb::BlockBasedTableOptions tableOptions(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = 16 * kKiB;
  // Indexes and filters live in the cache too, in parts: otherwise they grow with the backlog.
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = false;
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.metadata_block_size = 4 * kKiB;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.checksum = rocksdb::kXXH3;
  table.format_version = 6;
  return table;
}

rocksdb::ColumnFamilyOptions baseFamily(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions family;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(tableOptions(cache)));
  family.compression = rocksdb::kLZ4Compression;  // measured: free; zstd is not
  // With no_slowdown a write fails where it would have been slowed down. So the points where
  // RocksDB begins to slow down for compaction's sake are set far away: reads through a hundred
  // files are slow, but a refused webhook is worse. Write buffers are bounded, by three that wait
  // to be flushed: that is memory.
  family.write_buffer_size = 4 * kMiB;
  family.max_write_buffer_number = 4;
  family.min_write_buffer_number_to_merge = 1;
  family.level0_file_num_compaction_trigger = 4;
  family.level0_slowdown_writes_trigger = 200;
  family.level0_stop_writes_trigger = 400;
  family.soft_pending_compaction_bytes_limit = 0;
  family.hard_pending_compaction_bytes_limit = 0;
  family.target_file_size_base = 32 * kMiB;
  family.max_bytes_for_level_base = 64 * kMiB;
  family.level_compaction_dynamic_level_bytes = true;
  return family;
}

rocksdb::ColumnFamilyOptions eventsFamily(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions family = baseFamily(cache);
  family.write_buffer_size = 8 * kMiB;
  family.target_file_size_base = 64 * kMiB;
  family.max_bytes_for_level_base = 256 * kMiB;
  // Ids only grow, so the files of level 0 don't overlap: reading is as fast with any number of
  // them, and moving them on costs nothing. There is no reason to hold a write back for them.
  family.level0_slowdown_writes_trigger = 1 << 20;
  family.level0_stop_writes_trigger = 1 << 20;
  // Large bodies are written once and not carried along by every compaction. Small ones stay in
  // the tables: blob files make ordered reads of 1 KiB values 3.6 times slower.
  family.enable_blob_files = true;
  family.min_blob_size = kBlobBytesMin;
  family.blob_file_size = 64 * kMiB;
  family.blob_compression_type = rocksdb::kLZ4Compression;
  family.enable_blob_garbage_collection = true;
  return family;
}

rocksdb::ColumnFamilyOptions queueFamily(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions family = baseFamily(cache);
  // Every entry is deleted at the front of its queue, or of its order key. A file in which
  // half of any 8192 entries are deletions is compacted at once, or a seek would step over them
  // one by one.
  family.table_properties_collector_factories.push_back(
      rocksdb::NewCompactOnDeletionCollectorFactory(8192, 4096, 0.5));
  return family;
}

}  // namespace

rocksdb::DBOptions databaseOptions(rocksdb::Env* env) {
  rocksdb::DBOptions options;
  options.env = env;
  options.create_if_missing = false;  // recovery.cc decides
  options.create_missing_column_families = true;

  // --- never lose silently
  options.paranoid_checks = true;
  // The default mode drops synced records after a damaged one without a word. This one refuses
  // damage in the middle and forgives only a last record that was never synced.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.recycle_log_file_num = 0;                  // faster, but needs the default mode
  options.track_and_verify_wals_in_manifest = true;  // a log that is missing in the middle
  options.use_fsync = false;                         // fdatasync covers what a read needs
  options.manual_wal_flush = false;                  // what is written survives our death
  options.allow_mmap_writes = false;
  options.atomic_flush = false;  // every write goes through the log

  // --- speed
  // The settler's write needn't wait for the committer's memtable, nor the reverse.
  options.enable_pipelined_write = true;
  options.wal_bytes_per_sync = 0;  // every commit syncs anyway
  // Spinning for a sync to end takes the CPU from Envoy.
  options.enable_write_thread_adaptive_yield = false;
  options.bytes_per_sync = 1 * kMiB;  // table files trickle out, so that no fdatasync waits
  // One flush and two compactions, so that a long one does not keep the short ones waiting.
  options.max_background_jobs = 3;
  options.max_subcompactions = 1;
  options.skip_stats_update_on_db_open = true;  // opening reads no tables

  // --- memory and files
  options.db_write_buffer_size = kWriteBufferBytesMax;
  options.max_total_wal_size = 128 * kMiB;  // also bounds the time that recovery takes
  options.max_open_files = 256;
  options.max_file_opening_threads = 1;
  options.max_manifest_file_size = 16 * kMiB;

  // --- RocksDB's own diary
  options.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  options.keep_log_file_num = 2;
  options.max_log_file_size = 1 * kMiB;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

std::vector<rocksdb::ColumnFamilyDescriptor> familyOptions() {
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(kBlockCacheBytes);
  rocksdb::ColumnFamilyOptions meta = baseFamily(cache);
  meta.write_buffer_size = 1 * kMiB;  // the same few keys over and over
  return {
      {rocksdb::kDefaultColumnFamilyName, meta},
      {std::string(kEventsFamily), eventsFamily(cache)},
      {std::string(kStateFamily), baseFamily(cache)},
      {std::string(kAttemptsFamily), baseFamily(cache)},
      {std::string(kDueFamily), queueFamily(cache)},
      {std::string(kSetAsideFamily), baseFamily(cache)},
      {std::string(kOrderFamily), queueFamily(cache)},
  };
}

rocksdb::WriteOptions syncedWrite() {
  rocksdb::WriteOptions options = unsyncedWrite();
  options.sync = true;
  return options;
}

rocksdb::WriteOptions unsyncedWrite() {
  rocksdb::WriteOptions options;
  options.sync = false;
  options.disableWAL = false;
  // A sender is better served by a 503 now than by an answer in half a minute.
  options.no_slowdown = true;
  return options;
}

}  // namespace forebay::rocks
