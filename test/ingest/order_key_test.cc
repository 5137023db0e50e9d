#include "source/ingest/order_key.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "source/base/limits.h"

namespace forebay {
namespace {

const OrderBy kByShop{.header = "x-shop-id"};
const OrderBy kByCustomer{.json_pointer = "/data/object/customer"};

std::string keyOfHeaders(const std::vector<std::pair<std::string, std::string>>& headers) {
  v1::EventRecord record;
  record.set_body(R"({"data": {"object": {"customer": "not this"}}})");
  for (const auto& [name, value] : headers) {
    v1::Header* const header = record.add_headers();
    header->set_name(name);
    header->set_value(value);
  }
  return orderKey(kByShop, record);
}

std::string keyOfBody(const std::string& body) {
  v1::EventRecord record;
  record.add_headers()->set_name("x-shop-id");
  record.mutable_headers(0)->set_value("not this");
  record.set_body(body);
  return orderKey(kByCustomer, record);
}

std::string keyOfCustomer(const std::string& json) {
  return keyOfBody(R"({"data": {"object": {"customer": )" + json + "}}}");
}

TEST(OrderKeyTest, AHeadersValueIsTheKey) {
  EXPECT_EQ(keyOfHeaders({{"host", "a"}, {"x-shop-id", "shop 7"}, {"accept", "*"}}), "shop 7");
  EXPECT_EQ(keyOfHeaders({{"x-shop-id", "\xff\x01"}}), "\xff\x01");
}

// Most frameworks hand an app the first one, so that is what it takes for the shop.
TEST(OrderKeyTest, OfSeveralHeadersTheFirstCounts) {
  EXPECT_EQ(keyOfHeaders({{"x-shop-id", "a"}, {"x-shop-id", "b"}}), "a");
  EXPECT_EQ(keyOfHeaders({{"x-shop-id", ""}, {"x-shop-id", "b"}}), "");
}

TEST(OrderKeyTest, WithoutTheHeaderThereIsNoKey) {
  EXPECT_EQ(keyOfHeaders({}), "");
  EXPECT_EQ(keyOfHeaders({{"x-shop-id", ""}}), "");
  EXPECT_EQ(keyOfHeaders({{"x-shop", "a"}, {"x-shop-id-2", "b"}}), "");
}

TEST(OrderKeyTest, AScalarOfTheBodyIsTheKey) {
  EXPECT_EQ(keyOfCustomer(R"("cus_1")"), "cus_1");
  EXPECT_EQ(keyOfCustomer(R"("\u0063us_1")"), "cus_1");
  EXPECT_EQ(keyOfCustomer("12345678901234567890"), "12345678901234567890");
  EXPECT_EQ(keyOfCustomer("true"), "true");
}

TEST(OrderKeyTest, WithoutTheScalarThereIsNoKey) {
  EXPECT_EQ(keyOfCustomer("null"), "");
  EXPECT_EQ(keyOfCustomer(R"("")"), "");
  EXPECT_EQ(keyOfCustomer("{}"), "");
  EXPECT_EQ(keyOfCustomer(R"("cus_1)"), "");
  EXPECT_EQ(keyOfBody(""), "");
  EXPECT_EQ(keyOfBody("customer=cus_1"), "");
  EXPECT_EQ(keyOfBody(std::string("\x1f\x8b\x08\0", 4)), "");
}

TEST(OrderKeyTest, KeysUpToTheLimitAreKeptWhole) {
  const std::string longest(limits::kOrderKeyBytesMax, 'k');
  EXPECT_EQ(keyOfHeaders({{"x-shop-id", longest}}), longest);
  EXPECT_EQ(keyOfCustomer("\"" + longest + "\""), longest);
}

// The digest is part of what is stored: one that changed would break every order under way. The
// expected ones were computed apart from this code, from FNV's definition.
TEST(OrderKeyTest, LongerKeysEndInADigest) {
  const std::pair<std::string, std::string> known[] = {
      {std::string(201, 'k'), "9dba632e62ec10a3711939e2f58137ba"},
      {std::string(200, 'k') + "l", "9dba632e5dec10a3711939e2f5813193"},
      {std::string(1'000'000, '\xff'), "707394fba0008e744cfe4dcca73c634d"},
  };
  for (const auto& [key, digest] : known) {
    const std::string found = keyOfHeaders({{"x-shop-id", key}});
    EXPECT_EQ(found, key.substr(0, limits::kOrderKeyBytesMax - 16) +
                         std::string(absl::HexStringToBytes(digest)));
    EXPECT_EQ(found.size(), limits::kOrderKeyBytesMax);
  }
}

// Neither the end nor the length of a long key is lost.
TEST(OrderKeyTest, LongKeysStayApart) {
  std::set<std::string> keys;
  for (size_t length = 150; length < 1150; ++length) {
    keys.insert(keyOfHeaders({{"x-shop-id", std::string(length, 'k')}}));
    keys.insert(keyOfHeaders({{"x-shop-id", std::string(length, 'k') + "l"}}));
  }
  EXPECT_EQ(keys.size(), 2000u);
}

}  // namespace
}  // namespace forebay
