#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "source/base/log.h"
#include "source/event/event_id.h"

namespace forebay::rocks {

// The boot of the machine, by name; empty where that is not known.
std::string machineBoot();

// Remembers, over the death of the process, which events were leased: in the file `in_flight` (mode
// 0600) beside the database, a header and then a slot of 16 bytes for each, zero where it is free.
//
// Every change is written at once, with pwrite(), which costs well under a microsecond and reaches
// the kernel, so that it outlives us; it is never synced, for after a reboot nobody asks. A mapped
// file would save that call, but a full disk or an error of it would then be a SIGBUS in the proxy,
// and what guards against crashes must not be the cause of one.
//
// A file that can't be used, or slots that run out, leave events unremembered, with a warning: the
// store works without. Used under StoreContext::transitions.
class InFlight {
public:
  InFlight(const std::string& directory, std::string boot, Log& log);
  ~InFlight();
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  // What was in flight when the process last died.
  struct Left {
    std::vector<EventId> ids;
    bool same_boot = false;  // else the machine went down, and says nothing about the events
  };
  Left read() const;
  // Begins anew, with nothing in flight. Call it when what was left is dealt with.
  void begin();

  void add(absl::Span<const EventId> ids);
  void remove(absl::Span<const EventId> ids);
  // Nothing is in flight any more: a clean end.
  void end();

private:
  void write(uint32_t slot, const EventId& id);
  // Writes the slots that changed, those near each other with one call.
  void flush();
  void giveUp(const char* what);

  const std::string path_;
  const std::string boot_;
  Log& log_;
  int fd_ = -1;
  bool full_ = false;           // and it was said
  std::vector<EventId> slots_;  // as in the file
  std::vector<uint32_t> free_;
  std::vector<uint32_t> changed_;
  absl::flat_hash_map<EventId, uint32_t> slot_of_;
};

}  // namespace forebay::rocks
