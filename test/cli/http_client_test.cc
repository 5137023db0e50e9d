#include "source/cli/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "gtest/gtest.h"
#include "source/base/strings.h"

namespace forebay {
namespace {

// Accepts one connection on a free port of the loopback, reads a request up to its body's last
// byte, answers with fixed bytes and closes; or, without an answer, keeps silent.
class OneShotServer {
public:
  explicit OneShotServer(std::string answer) : answer_(std::move(answer)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    socklen_t size = sizeof(address);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~OneShotServer() {
    join();
    ::close(listener_);
  }

  std::string url() const { return cat("http://127.0.0.1:", port_); }
  const std::string& request() {
    join();
    return request_;
  }

private:
  void join() {
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  void serve() {
    const int connection = ::accept(listener_, nullptr, nullptr);
    char buffer[4096];
    while (!answer_.empty() && !request_.ends_with("body!") && !request_.ends_with("\r\n\r\n")) {
      const ssize_t received = ::recv(connection, buffer, sizeof(buffer), 0);
      if (received <= 0) {
        break;
      }
      request_.append(buffer, static_cast<size_t>(received));
    }
    ::send(connection, answer_.data(), answer_.size(), MSG_NOSIGNAL);
    // A silent server waits until the client has given up.
    while (answer_.empty() && ::recv(connection, buffer, sizeof(buffer), 0) > 0) {
    }
    ::close(connection);
  }

  const std::string answer_;
  std::string request_;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

absl::StatusOr<HttpResponse> send(const std::string& url, std::string_view method,
                                  std::string_view body,
                                  absl::Duration timeout = absl::Seconds(20)) {
  const absl::StatusOr<HttpAddress> address = parseUrl(url);
  EXPECT_TRUE(address.ok()) << address.status();
  return HttpClient(*address, timeout, systemClock()).send(method, "/forebay?x=%20", body);
}

TEST(HttpClientTest, SendsARequestAndReadsTheAnswer) {
  OneShotServer server("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
  const absl::StatusOr<HttpResponse> response = send(server.url(), "GET", "");
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "{}");
  EXPECT_EQ(server.request(),
            cat("GET /forebay?x=%20 HTTP/1.1\r\nhost: ", server.url().substr(7),
                "\r\nuser-agent: forebay\r\naccept: application/json\r\nconnection: close\r\n"
                "content-length: 0\r\n\r\n"));
}

TEST(HttpClientTest, SendsABodyAndReadsChunks) {
  OneShotServer server(
      "HTTP/1.1 400 Bad\r\ntransfer-encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n");
  const absl::StatusOr<HttpResponse> response = send(server.url(), "POST", "body!");
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->status, 400);
  EXPECT_EQ(response->body, "no");
  EXPECT_TRUE(server.request().ends_with("content-length: 5\r\n\r\nbody!"));
}

TEST(HttpClientTest, AnAnswerCutShortIsAnError) {
  OneShotServer server("HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{}");
  EXPECT_TRUE(absl::IsUnavailable(send(server.url(), "GET", "").status()));
}

TEST(HttpClientTest, SilenceEndsWithTheTimeout) {
  OneShotServer server("");
  const absl::Status status = send(server.url(), "GET", "", absl::Milliseconds(50)).status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_NE(status.message().find("no answer in time"), absl::string_view::npos) << status;
}

TEST(HttpClientTest, NobodyListeningIsSaidWithTheAddress) {
  std::string url;
  {
    OneShotServer server("HTTP/1.1 204\r\n\r\n");
    url = server.url();
    EXPECT_TRUE(send(url, "GET", "").ok());
  }
  const absl::Status status = send(url, "GET", "").status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_NE(status.message().find(url.substr(7)), absl::string_view::npos) << status;
}

TEST(HttpClientTest, ReadsAddresses) {
  const std::pair<std::string, std::string> good[] = {
      {"http://127.0.0.1:9901", "127.0.0.1:9901"},
      {"http://localhost:9901/", "localhost:9901"},
      {"envoy:9901", "envoy:9901"},
      {"http://envoy", "envoy:80"},
      {"http://[::1]:9901", "[::1]:9901"},
      {"[::1]", "[::1]:80"},
  };
  for (const auto& [url, authority] : good) {
    const absl::StatusOr<HttpAddress> address = parseUrl(url);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(address->authority(), authority);
  }
  for (const std::string url :
       {"", "http://", "https://envoy:9901", "http://envoy:", "http://envoy:0",
        "http://envoy:70000", "http://envoy:9901/path", "http://envoy:x", "http://a b:1",
        "http://u@envoy:1", "http://[::1", "http://[::1]9901", "http://envoy\r\nx: y:1", ":9901",
        "ftp://envoy"}) {
    EXPECT_FALSE(parseUrl(url).ok()) << url;
  }
}

}  // namespace
}  // namespace forebay
