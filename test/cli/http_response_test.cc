#include "source/cli/http_response.h"

#include "absl/status/statusor.h"
#include "gtest/gtest.h"

namespace forebay {
namespace {

// Feeds `bytes` in pieces of `piece`, then the end of the connection.
absl::StatusOr<HttpResponse> readAll(std::string_view bytes, size_t piece) {
  HttpResponseReader reader;
  while (!bytes.empty() && !reader.done()) {
    const absl::Status status = reader.feed(bytes.substr(0, piece));
    if (!status.ok()) {
      return status;
    }
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  if (const absl::Status status = reader.finish(); !status.ok()) {
    return status;
  }
  return std::move(reader).take();
}

TEST(HttpResponseTest, ReadsEveryFramingInPiecesOfAnySize) {
  const struct {
    std::string bytes;
    int status;
    std::string body;
  } cases[] = {
      {"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", 200, "hello"},
      {"HTTP/1.1 200 OK\r\nContent-Length:5\r\n\r\nhello, and more", 200, "hello"},
      {"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", 404, ""},
      {"HTTP/1.1 204 No Content\r\n\r\n", 204, ""},
      {"HTTP/1.0 503\r\n\r\nup to the end", 503, "up to the end"},
      {"HTTP/1.1 200 OK\r\n\r\n", 200, ""},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx", 200, "x"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
       "5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
       200, "hello0123456789"},
      {"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n\r\r\n0\r\nx-trailer: 1\r\n\r\n",
       200, "\r"},
  };
  for (const auto& test : cases) {
    for (size_t piece = 1; piece <= test.bytes.size(); ++piece) {
      const absl::StatusOr<HttpResponse> response = readAll(test.bytes, piece);
      ASSERT_TRUE(response.ok()) << response.status() << " " << test.bytes;
      EXPECT_EQ(response->status, test.status);
      EXPECT_EQ(response->body, test.body);
    }
  }
}

TEST(HttpResponseTest, RefusesWhatIsNoAnswer) {
  const std::string cases[] = {
      "",
      "SSH-2.0-OpenSSH\r\n\r\n",
      "HTTP/2 200\r\n\r\n",
      "HTTP/1.1 2x0 OK\r\n\r\n",
      "HTTP/1.1 099 OK\r\n\r\n",
      "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
      "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell",
      "HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\ncontent-length: 5x\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999999\r\n\r\n",
      "HTTP/1.1 200 OK\r\ncontent-length: 67108865\r\n\r\n",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nz\r\n",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\r\n",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffff\r\n",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n",
      "HTTP/1.1 200 OK\r\nx: " + std::string(HttpResponseReader::kHeadBytesMax, 'y') + "\r\n\r\n",
      std::string(HttpResponseReader::kHeadBytesMax + 1, 'y'),
  };
  for (const std::string& bytes : cases) {
    EXPECT_FALSE(readAll(bytes, bytes.size() + 1).ok()) << bytes.substr(0, 100);
  }
}

}  // namespace
}  // namespace forebay
