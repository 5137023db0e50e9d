#include "test/benchmark/request_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace forebay::benchmark {
namespace {

// Feeds `bytes` in pieces of `piece` bytes; one line per request, "!" at the end for an error.
std::vector<std::string> read(std::string_view bytes, size_t piece) {
  RequestReader reader;
  std::vector<std::string> seen;
  const auto handler = [&](const Request& request) {
    seen.push_back(std::string(request.method) + " " + std::string(request.path) + " " +
                   std::to_string(request.body_bytes) + " " + std::string(request.event_id) +
                   std::string(request.received_at));
  };
  for (size_t at = 0; at < bytes.size(); at += piece) {
    if (!reader.feed(bytes.substr(at, piece), handler)) {
      seen.push_back("!");
      break;
    }
  }
  return seen;
}

// However the network cuts the bytes, the same requests come out.
TEST(RequestReaderTest, EveryCutGivesTheSameRequests) {
  const std::string bytes =
      "POST /a HTTP/1.1\r\nContent-Length: 5\r\nForebay-Event-Id:  x1 \r\n\r\nhello"
      "GET /count HTTP/1.1\r\n\r\n"
      "POST /b HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"
      "5;note\r\nhello\r\nA\r\n0123456789\r\n0\r\ntrailer: t\r\n\r\n"
      "POST /c HTTP/1.1\r\ncontent-length: 0\r\nforebay-event-id: x2\r\nforebay-received-at: "
      "now\r\n\r\n";
  const std::vector<std::string> expected = {"POST /a 5 x1", "GET /count 0 ", "POST /b 15 ",
                                             "POST /c 0 x2now"};
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    EXPECT_EQ(read(bytes, piece), expected) << "pieces of " << piece;
  }
}

// What it cannot read it refuses, instead of counting something else.
TEST(RequestReaderTest, RefusesWhatItCannotRead) {
  for (const char* head : {"nonsense\r\n\r\n", "POST /a HTTP/1.1\r\ncontent-length: 5x\r\n\r\n",
                           "POST /a HTTP/1.1\r\nno colon\r\n\r\n",
                           "POST /a HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n",
                           "POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"}) {
    EXPECT_EQ(read(head, 1000), std::vector<std::string>{"!"}) << head;
  }
  EXPECT_EQ(read(std::string(70'000, 'a'), 1000), std::vector<std::string>{"!"});
}

}  // namespace
}  // namespace forebay::benchmark
