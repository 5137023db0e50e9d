// The table, methods, and how errors of the layers below are answered.

#include "test/admin/fixture.h"

namespace forebay {
namespace {

using RoutesTest = AdminTest;

std::string errorJson(const std::string& code, const std::string& message) {
  return cat("{\"error\":{\"code\":\"", code, "\",\"message\":\"", message, "\"}}\n");
}

TEST_F(RoutesTest, TheTableIsTheContract) {
  std::vector<std::string> table;
  for (const Admin::Route& route : Admin::routes()) {
    table.push_back(cat(route.mutating ? "POST " : "GET ", route.path));
    EXPECT_FALSE(route.help.empty());
  }
  EXPECT_EQ(table, (std::vector<std::string>{"GET /forebay", "GET /forebay/events",
                                             "GET /forebay/event", "GET /forebay/event/body",
                                             "POST /forebay/replay", "GET /forebay/upstreams",
                                             "POST /forebay/pause", "POST /forebay/resume"}));
}

TEST_F(RoutesTest, UnknownPathsAreNotFound) {
  for (const std::string path : {"", "/", "/forebay/", "/forebays", "/forebay/replays", "forebay",
                                 "/forebay/events/", "/FOREBAY", "/forebay%2Fevents"}) {
    EXPECT_EQ(get(path).status, 404) << path;
  }
  EXPECT_EQ(get("/forebay/<b>\x01").body,
            errorJson("not_found", "no route \\\"/forebay/\\u003cb\\u003e\\\\x01\\\""));
}

TEST_F(RoutesTest, OtherMethodsAreNotAllowed) {
  for (const Admin::Route& route : Admin::routes()) {
    for (const std::string method : {"GET", "POST", "PUT", "DELETE", "get", ""}) {
      if (method == (route.mutating ? "POST" : "GET")) {
        continue;
      }
      const AdminResponse response = admin_.handle({method, std::string(route.path), ""});
      EXPECT_EQ(response.status, 405) << method << " " << route.path;
    }
  }
  EXPECT_EQ(admin_.handle({"PUT", "/forebay/replay", ""}).body,
            errorJson("method_not_allowed",
                      "method: \\\"PUT\\\" is not for /forebay/replay, which wants POST"));
  EXPECT_EQ(admin_.handle({"HEAD", "/forebay", ""}).status, 200);
}

TEST_F(RoutesTest, EmptyPiecesOfAQueryMeanNothing) {
  EXPECT_EQ(get("/forebay?").status, 200);
  EXPECT_EQ(get("/forebay/events?&limit=5&").status, 200);
}

TEST_F(RoutesTest, WhatTheStoreReportsIsMapped) {
  const std::string id = capture().toString();
  const struct {
    absl::Status status;
    int http_status;
    std::string code;
  } cases[] = {
      {absl::NotFoundError("why"), 404, "not_found"},
      {absl::UnavailableError("why"), 503, "unavailable"},
      {absl::ResourceExhaustedError("why"), 503, "unavailable"},
      {absl::DataLossError("why"), 500, "data_loss"},
      {absl::FailedPreconditionError("why"), 409, "conflict"},
      {absl::InternalError("why"), 500, "internal"},
      // Our mistakes, not the operator's.
      {absl::InvalidArgumentError("why"), 500, "internal"},
      {absl::UnimplementedError("why"), 500, "internal"},
      {absl::UnknownError("why"), 500, "internal"},
  };
  for (const auto& test : cases) {
    store_.failure = test.status;
    const std::string expected = errorJson(test.code, "why");
    for (const std::string& target : {std::string("/forebay/events"), cat("/forebay/event?id=", id),
                                      cat("/forebay/event/body?id=", id)}) {
      const AdminResponse response = get(target);
      EXPECT_EQ(response.status, test.http_status) << target << " " << test.status;
      EXPECT_EQ(response.body, expected) << target;
    }
    const AdminResponse by_ids = post("/forebay/replay", cat("{\"ids\":[\"", id, "\"]}"));
    EXPECT_EQ(by_ids.status, test.http_status) << test.status;
    EXPECT_EQ(by_ids.body, expected);
    EXPECT_EQ(post("/forebay/replay", "{\"filter\":{}}").status, test.http_status) << test.status;
    lanes_.failure = test.status;
    EXPECT_EQ(post("/forebay/pause?upstream=billing").status, test.http_status) << test.status;
  }
}

}  // namespace
}  // namespace forebay
