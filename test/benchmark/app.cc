// The app behind the benchmark: answers every request 200 with an empty body, on one thread, and
// keeps a ledger of what arrived.
//   app [--delays]   listens on 127.0.0.1, on a free port; prints the port
// GET /requests      {"requests", "events", "body_bytes"}: cheap, for reading while under load.
//                    Events are the requests with a forebay-event-id
// GET /count         the same with "distinct": how many different ids were seen
// GET /delays        with --delays: {"count", "p50_us", "p99_us"} from the capture of an event to
// its
//                    arrival, of those that arrived since the last call
// GET /hang          from now on requests get no answer; GET /heal answers them all

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "test/benchmark/request_reader.h"

namespace forebay::benchmark {
namespace {

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "app: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

// What arrived. Ids are only appended under load and sorted when somebody asks, because a growing
// hash table would pause the app in the middle of a measurement.
class Ledger {
public:
  void add(const Request& request) {
    ++requests_;
    body_bytes_ += request.body_bytes;
    if (request.event_id.size() == id_bytes) {
      ++events_;
      std::memcpy(ids_.emplace_back().data(), request.event_id.data(), id_bytes);
    }
  }

  size_t distinct() {
    std::sort(ids_.begin() + static_cast<std::ptrdiff_t>(sorted_), ids_.end());
    std::inplace_merge(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(sorted_),
                       ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    sorted_ = ids_.size();
    return sorted_;
  }

  std::string totals() const {
    return "\"requests\": " + std::to_string(requests_) +
           ", \"events\": " + std::to_string(events_) +
           ", \"body_bytes\": " + std::to_string(body_bytes_);
  }

private:
  static constexpr size_t id_bytes = 26;  // a ULID's text

  uint64_t requests_ = 0;
  uint64_t events_ = 0;
  uint64_t body_bytes_ = 0;
  size_t sorted_ = 0;  // ids before this one are sorted and unique
  std::vector<std::array<char, id_bytes>> ids_;
};

int64_t nowMicros() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
}

// How long ago `received_at` ("2026-01-31T23:59:59.123456Z") was; negative when it isn't a time.
int64_t microsSince(std::string_view received_at) {
  tm parts{};
  const std::string text(received_at);
  const char* const rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr || *rest != '.') {
    return -1;
  }
  return nowMicros() - static_cast<int64_t>(timegm(&parts)) * 1'000'000 - std::atoll(rest + 1);
}

class Delays {
public:
  void add(std::string_view received_at) { micros_.push_back(microsSince(received_at)); }

  std::string take() {
    std::sort(micros_.begin(), micros_.end());
    const std::string text = "{\"count\": " + std::to_string(micros_.size()) +
                             ", \"p50_us\": " + std::to_string(percentile(50)) +
                             ", \"p99_us\": " + std::to_string(percentile(99)) + "}\n";
    micros_.clear();
    return text;
  }

private:
  int64_t percentile(size_t percent) const {
    return micros_.empty() ? 0 : micros_[(micros_.size() - 1) * percent / 100];
  }

  std::vector<int64_t> micros_;
};

struct Connection {
  int fd;
  RequestReader reader;
  std::string out;
  size_t out_sent = 0;
  bool waits_for_room = false;
  size_t owed = 0;  // answers held back while the app hangs
};

constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

class App {
public:
  explicit App(bool with_delays) : epoll_(epoll_create1(0)), with_delays_(with_delays) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      die("bind");
    }
    if (listen(listener_, 1024) != 0) {
      die("listen");
    }
    watch(EPOLL_CTL_ADD, listener_, EPOLLIN);
  }

  uint16_t port() const {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 256> events;
    while (true) {
      const int count = epoll_wait(epoll_, events.data(), events.size(), -1);
      if (count < 0 && errno != EINTR) {
        die("epoll_wait");
      }
      for (int i = 0; i < count; ++i) {
        const int fd = events[i].data.fd;
        if (fd == listener_) {
          acceptAll();
        } else if (!serve(*connections_.at(fd), events[i].events)) {
          close(fd);
          connections_.erase(fd);
        }
      }
    }
  }

private:
  void watch(int operation, int fd, uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    if (epoll_ctl(epoll_, operation, fd, &event) != 0) {
      die("epoll_ctl");
    }
  }

  void acceptAll() {
    while (true) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK);
      if (fd < 0) {
        return;
      }
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      connections_[fd] = std::make_unique<Connection>(Connection{.fd = fd});
      watch(EPOLL_CTL_ADD, fd, EPOLLIN);
    }
  }

  // False when the connection is over.
  bool serve(Connection& connection, uint32_t events) {
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
      const ssize_t count = read(connection.fd, input_.data(), input_.size());
      if (count == 0 || (count < 0 && errno != EAGAIN)) {
        return false;
      }
      if (count > 0 &&
          !connection.reader.feed({input_.data(), static_cast<size_t>(count)},
                                  [&](const Request& request) { answer(connection, request); })) {
        return false;
      }
    }
    return flush(connection);
  }

  void answer(Connection& connection, const Request& request) {
    if (request.method != "GET") {
      ledger_.add(request);
      if (with_delays_) {
        delays_.add(request.received_at);
      }
      if (hung_) {
        ++connection.owed;
      } else {
        connection.out += kAnswer;
      }
      return;
    }
    std::string body = "{}\n";
    if (request.path == "/requests") {
      body = "{" + ledger_.totals() + "}\n";
    } else if (request.path == "/count") {
      const size_t distinct = ledger_.distinct();
      body = "{" + ledger_.totals() + ", \"distinct\": " + std::to_string(distinct) + "}\n";
    } else if (request.path == "/delays") {
      body = delays_.take();
    } else if (request.path == "/hang") {
      hung_ = true;
    } else if (request.path == "/heal") {
      heal();
    }
    connection.out +=
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
        "content-length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body;
  }

  void heal() {
    hung_ = false;
    for (const auto& [fd, connection] : connections_) {
      for (; connection->owed > 0; --connection->owed) {
        connection->out += kAnswer;
      }
      flush(*connection);  // one that fails is found closed soon
    }
  }

  bool flush(Connection& connection) {
    while (connection.out_sent < connection.out.size()) {
      const ssize_t count = send(connection.fd, connection.out.data() + connection.out_sent,
                                 connection.out.size() - connection.out_sent, MSG_NOSIGNAL);
      if (count < 0) {
        if (errno != EAGAIN) {
          return false;
        }
        watch(EPOLL_CTL_MOD, connection.fd, EPOLLIN | EPOLLOUT);
        connection.waits_for_room = true;
        return true;
      }
      connection.out_sent += static_cast<size_t>(count);
    }
    connection.out.clear();
    connection.out_sent = 0;
    if (connection.waits_for_room) {
      watch(EPOLL_CTL_MOD, connection.fd, EPOLLIN);
      connection.waits_for_room = false;
    }
    return true;
  }

  const int epoll_;
  const bool with_delays_;
  bool hung_ = false;
  int listener_;
  std::unordered_map<int, std::unique_ptr<Connection>> connections_;
  std::array<char, 64 * 1024> input_;
  Ledger ledger_;
  Delays delays_;
};

}  // namespace
}  // namespace forebay::benchmark

int main(int argc, char** argv) {
  const bool with_delays = argc == 2 && std::string_view(argv[1]) == "--delays";
  if (argc > 2 || (argc == 2 && !with_delays)) {
    std::fprintf(stderr, "usage: app [--delays]\n");
    return 2;
  }
  forebay::benchmark::App app(with_delays);
  std::printf("%d\n", app.port());
  std::fflush(stdout);
  app.run();
}
