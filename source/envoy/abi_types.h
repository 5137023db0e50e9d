#pragma once

#include <string_view>

#include "source/envoy/abi.h"

namespace forebay {

inline FbBuffer toAbi(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view fromAbi(const FbBuffer& buffer) { return {buffer.ptr, buffer.length}; }
inline FbHeader toAbi(std::string_view name, std::string_view value) {
  return {name.data(), name.size(), value.data(), value.size()};
}
inline std::string_view nameOf(const FbHeader& header) {
  return {header.key_ptr, header.key_length};
}
inline std::string_view valueOf(const FbHeader& header) {
  return {header.value_ptr, header.value_length};
}

// No exception crosses the C boundary: `fn` runs, or `fallback` runs instead of what is left of it.
template <typename Fn, typename Fallback>
auto guarded(Fn&& fn, Fallback&& fallback) noexcept -> decltype(fn()) {
  try {
    return fn();
  } catch (...) {
    return fallback();
  }
}

// A scheduler of Envoy's: commit() from any thread runs a hook on the owner's thread, or nothing
// when the owner is gone.
template <void* (*kNew)(void*), void (*kCommit)(void*, uint64_t), void (*kDelete)(void*)>
class Scheduler {
public:
  explicit Scheduler(void* owner) : scheduler_(kNew(owner)) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler() { kDelete(scheduler_); }

  void commit(uint64_t event) { kCommit(scheduler_, event); }

private:
  void* const scheduler_;
};

using StreamScheduler = Scheduler<&envoy_dynamic_module_callback_http_filter_scheduler_new,
                                  &envoy_dynamic_module_callback_http_filter_scheduler_commit,
                                  &envoy_dynamic_module_callback_http_filter_scheduler_delete>;
using MainScheduler =
    Scheduler<&envoy_dynamic_module_callback_bootstrap_extension_config_scheduler_new,
              &envoy_dynamic_module_callback_bootstrap_extension_config_scheduler_commit,
              &envoy_dynamic_module_callback_bootstrap_extension_config_scheduler_delete>;

}  // namespace forebay
