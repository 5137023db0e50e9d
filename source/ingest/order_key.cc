#include "source/ingest/order_key.h"

#include "absl/numeric/int128.h"
#include "source/base/limits.h"
#include "source/event/json_pointer.h"

namespace forebay {
namespace {

constexpr size_t kDigestBytes = 16;
static_assert(limits::kOrderKeyBytesMax > kDigestBytes);

// FNV-1a with 128 bits, by its published constants (draft-eastlake-fnv).
absl::uint128 fnv1a(std::string_view text) {
  constexpr absl::uint128 kPrime = absl::MakeUint128(0x0000000001000000, 0x000000000000013B);
  absl::uint128 hash = absl::MakeUint128(0x6C62272E07BB0142, 0x62B821756295C58D);
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  }
  return hash;
}

std::string shortened(std::string key) {
  if (key.size() <= limits::kOrderKeyBytesMax) {
    return key;
  }
  absl::uint128 hash = fnv1a(key);
  key.resize(limits::kOrderKeyBytesMax);
  for (size_t i = 1; i <= kDigestBytes; ++i) {
    key[key.size() - i] = static_cast<char>(absl::Uint128Low64(hash) & 0xFF);
    hash >>= 8;
  }
  key.shrink_to_fit();  // it came from a body, and stays in memory with the event
  return key;
}

}  // namespace

std::string orderKey(const OrderBy& order_by, const v1::EventRecord& record) {
  if (!order_by.json_pointer.empty()) {
    return shortened(scalarAt(record.body(), order_by.json_pointer).value_or(""));
  }
  for (const v1::Header& header : record.headers()) {
    if (header.name() == order_by.header) {
      return shortened(header.value());
    }
  }
  return "";
}

}  // namespace forebay
