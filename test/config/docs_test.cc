// docs/configuration.md names every field of config.proto.

#include <functional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/forebay/v1/config.pb.h"
#include "gtest/gtest.h"
#include "test/config/test_data.h"

namespace forebay::test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Visits `type` and all messages within it, once each.
void visit(const Descriptor& type, std::set<const Descriptor*>& seen,
           const std::function<void(const FieldDescriptor&)>& field_seen) {
  if (!absl::StartsWith(type.full_name(), "forebay.") || !seen.insert(&type).second) {
    return;
  }
  for (int i = 0; i < type.field_count(); ++i) {
    field_seen(*type.field(i));
    if (type.field(i)->message_type() != nullptr) {
      visit(*type.field(i)->message_type(), seen, field_seen);
    }
  }
}

TEST(DocsTest, EveryFieldAndEnumValueIsDocumented) {
  const std::string docs = readFile("docs/configuration.md");
  std::set<const Descriptor*> seen;
  int fields = 0;
  for (const Descriptor* type :
       {v1::BootstrapConfig::descriptor(), v1::CaptureFilterConfig::descriptor()}) {
    visit(*type, seen, [&](const FieldDescriptor& field) {
      ++fields;
      // As code, alone or at the end of a path: `timeout`, `open.initial`.
      EXPECT_TRUE(absl::StrContains(docs, absl::StrCat("`", field.name(), "`")) ||
                  absl::StrContains(docs, absl::StrCat(".", field.name(), "`")))
          << field.full_name();
      for (int i = 0; field.enum_type() != nullptr && i < field.enum_type()->value_count(); ++i) {
        EXPECT_TRUE(
            absl::StrContains(docs, absl::StrCat("`", field.enum_type()->value(i)->name(), "`")))
            << field.enum_type()->value(i)->full_name();
      }
    });
  }
  EXPECT_GT(fields, 60);
}

}  // namespace
}  // namespace forebay::test
