#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace forebay::benchmark {

// What the benchmark's app wants to know of one request. The views are valid during the callback
// only.
struct Request {
  std::string_view method;
  std::string_view path;
  std::string_view event_id;     // forebay-event-id; empty when absent
  std::string_view received_at;  // forebay-received-at; empty when absent
  uint64_t body_bytes = 0;
};

// Splits the bytes of one HTTP/1.1 connection into requests: content-length and chunked bodies,
// pipelining. Bodies are counted and skipped, never kept, so that the app costs the machine that it
// shares with Envoy as little as possible.
class RequestReader {
public:
  using Handler = std::function<void(const Request&)>;

  // Feeds bytes and calls `handler` once per complete request, in order. False when the bytes are
  // not HTTP that this reader knows; the connection is then of no further use.
  bool feed(std::string_view bytes, const Handler& handler);

private:
  enum class State { Head, Body, ChunkSize, ChunkData, Trailers };

  static constexpr size_t head_bytes_max = 64 * 1024;

  // Each takes from the front of `input` what it can use. False when it needs more bytes or has met
  // an error.
  bool step(std::string_view& input, const Handler& handler);
  bool readHead(std::string_view& input, const Handler& handler);
  bool readChunkSize(std::string_view& input);
  bool readTrailerLine(std::string_view& input, const Handler& handler);
  bool skipBody(std::string_view& input);

  bool parseHead(std::string_view head);
  void finish(const Handler& handler);

  State state_ = State::Head;
  bool failed_ = false;
  bool chunked_ = false;
  uint64_t left_ = 0;  // of the body, or of the chunk with its line end
  uint64_t body_bytes_ = 0;
  std::string method_;
  std::string path_;
  std::string event_id_;
  std::string received_at_;
  std::string held_;  // bytes that did not yet make up a head or a line
};

}  // namespace forebay::benchmark
