#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "api/forebay/v1/event.pb.h"

namespace forebay {

// Which of a stranger's headers may go on to the app. Hop-by-hop headers (and whatever
// `connection` names), `expect`, framing, and those that Envoy or Forebay would obey or add
// themselves (`x-envoy-*`, `forebay-*`) may not.
class ForwardedHeaders {
public:
  explicit ForwardedHeaders(const v1::EventRecord& record);

  bool allows(std::string_view name) const;

private:
  absl::flat_hash_set<std::string> named_by_connection_;
};

// Whether a header's value is a credential that no operator's view may show.
bool isSecretHeader(std::string_view name);

}  // namespace forebay
