// docs/configuration.md names every field of config.proto.

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

struct Docs {
  std::string text;
  std::set<const Descriptor*> seen;
  int fields = 0;
};

// Prose that mentions a field by chance doesn't count: it must have a row of its own, or be named
// together with the field that it is in.
bool isDocumented(const std::string& text, const std::string& parent, const std::string& field) {
  return absl::StrContains(text, absl::StrCat("\n| `", field, "` |")) ||
         absl::StrContains(text, absl::StrCat("`", parent, ".", field, "`"));
}

// Checks `type`, which is the type of the field `parent`, and all messages within it, once each.
void check(const Descriptor& type, const std::string& parent, Docs& docs) {
  if (!absl::StartsWith(type.full_name(), "forebay.") || !docs.seen.insert(&type).second) {
    return;
  }
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    ++docs.fields;
    EXPECT_TRUE(isDocumented(docs.text, parent, field.name())) << field.full_name();
    if (field.message_type() != nullptr) {
      check(*field.message_type(), field.name(), docs);
    }
    for (int j = 0; field.enum_type() != nullptr && j < field.enum_type()->value_count(); ++j) {
      const google::protobuf::EnumValueDescriptor& value = *field.enum_type()->value(j);
      EXPECT_TRUE(absl::StrContains(docs.text, absl::StrCat("`", value.name(), "`")))
          << value.full_name();
    }
  }
}

TEST(DocsTest, EveryFieldAndEnumValueIsDocumented) {
  Docs docs;
  docs.text = readFile("docs/configuration.md");
  check(*v1::BootstrapConfig::descriptor(), "", docs);
  check(*v1::CaptureFilterConfig::descriptor(), "", docs);
  EXPECT_GT(docs.fields, 60);
}

}  // namespace
}  // namespace forebay::test
