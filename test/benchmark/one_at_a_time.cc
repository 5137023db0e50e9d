// How long one sender waits for its acknowledgement when nobody else is there, next to what the
// disk itself takes.
//   one_at_a_time PORT FILE [COUNT]
// Sends COUNT POSTs of 1 KiB to 127.0.0.1:PORT, each after the answer to the one before, on one
// connection, and as many 4 KiB appends with fdatasync to FILE, alternating in blocks, so that both
// see the same moods of the disk. Prints one JSON object.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace forebay::benchmark {
namespace {

constexpr size_t body_bytes = 1024;
constexpr size_t append_bytes = 4096;
constexpr int block = 50;
constexpr int warm_up = 20;

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "one_at_a_time: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

class Sender {
public:
  explicit Sender(uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      die("connect");
    }
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    request_ =
        "POST /webhooks/bench HTTP/1.1\r\nhost: bench\r\n"
        "content-type: application/json\r\ncontent-length: " +
        std::to_string(body_bytes) + "\r\n\r\n";
    for (size_t i = 0; i < body_bytes; ++i) {
      request_ += static_cast<char>('a' + std::rand() % 26);
    }
  }

  // True when the answer is a 200. The answers here have empty bodies: the head is all of it.
  bool send() {
    if (::send(fd_, request_.data(), request_.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request_.size())) {
      die("write to Envoy");
    }
    std::string answer;
    char bytes[4096];
    while (answer.find("\r\n\r\n") == std::string::npos) {
      const ssize_t count = read(fd_, bytes, sizeof(bytes));
      if (count <= 0) {
        die("read from Envoy");
      }
      answer.append(bytes, static_cast<size_t>(count));
    }
    return answer.starts_with("HTTP/1.1 200 ");
  }

private:
  const int fd_;
  std::string request_;
};

class Appender {
public:
  explicit Appender(const std::string& path)
      : fd_(open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600)),
        bytes_(append_bytes, 'x') {
    if (fd_ < 0) {
      die(path);
    }
  }

  bool append() {
    if (write(fd_, bytes_.data(), bytes_.size()) != static_cast<ssize_t>(bytes_.size()) ||
        fdatasync(fd_) != 0) {
      die("append");
    }
    return true;
  }

private:
  const int fd_;
  const std::string bytes_;
};

struct Timings {
  // Runs `action` `count` times, and returns how often it said false.
  template <typename Action>
  int measure(int count, Action action) {
    int failures = 0;
    for (int i = 0; i < count; ++i) {
      const auto start = std::chrono::steady_clock::now();
      failures += action() ? 0 : 1;
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - start;
      milliseconds.push_back(took.count());
    }
    return failures;
  }

  std::string json() {
    std::sort(milliseconds.begin(), milliseconds.end());
    char text[128];
    std::snprintf(text, sizeof(text), "{\"p50_ms\": %.4f, \"p90_ms\": %.4f, \"p99_ms\": %.4f}",
                  at(0.5), at(0.9), at(0.99));
    return text;
  }

  double at(double share) const {
    return milliseconds[static_cast<size_t>(share * static_cast<double>(milliseconds.size() - 1))];
  }

  std::vector<double> milliseconds;
};

int run(uint16_t port, const std::string& path, int count) {
  Sender sender(port);
  Appender appender(path);
  for (int i = 0; i < warm_up; ++i) {
    sender.send();
    appender.append();
  }
  Timings requests;
  Timings appends;
  int failures = 0;
  for (int done = 0; done < count; done += block) {
    const int size = std::min(block, count - done);
    failures += requests.measure(size, [&] { return sender.send(); });
    appends.measure(size, [&] { return appender.append(); });
  }
  unlink(path.c_str());
  std::printf(
      "{\"requests\": %d, \"sent\": %d, \"failures\": %d, \"request\": %s, \"append\": %s}\n",
      count, count + warm_up, failures, requests.json().c_str(), appends.json().c_str());
  return 0;
}

}  // namespace
}  // namespace forebay::benchmark

int main(int argc, char** argv) {
  const int port = argc > 2 ? std::atoi(argv[1]) : 0;
  const int count = argc > 3 ? std::atoi(argv[3]) : 2000;
  if (port <= 0 || port > 65535 || count <= 0) {
    std::fprintf(stderr, "usage: one_at_a_time PORT FILE [COUNT]\n");
    return 2;
  }
  return forebay::benchmark::run(static_cast<uint16_t>(port), argv[2], count);
}
