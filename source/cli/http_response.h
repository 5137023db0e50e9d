#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace forebay {

struct HttpResponse {
  int status = 0;
  std::string body;
};

// Reads one HTTP/1.1 answer from bytes as they come: with a length, chunked, or up to the end of
// the connection. InvalidArgument for what is none. Answers beyond kBodyBytesMax are refused.
class HttpResponseReader {
public:
  static constexpr size_t kHeadBytesMax = 64 * 1024;
  static constexpr size_t kBodyBytesMax = 64 * 1024 * 1024;

  absl::Status feed(std::string_view bytes);
  // The peer has closed: an error unless the answer is whole, or ends that way.
  absl::Status finish();

  bool done() const { return state_ == State::Done; }
  HttpResponse take() && { return std::move(response_); }

private:
  enum class State { Head, Body, ChunkSize, ChunkData, ChunkEnd, Trailers, UntilClose, Done };

  // Does what the buffered bytes suffice for; false when it wants more.
  absl::Status step(bool& progressed);
  absl::Status readHead(bool& progressed);
  absl::Status parseHead(std::string_view head);
  absl::Status parseHeader(std::string_view line, bool& chunked, bool& has_length);
  absl::Status readChunkSize(bool& progressed);
  absl::Status takeBody(bool& progressed, State next);
  bool takeLine(std::string& line);

  State state_ = State::Head;
  std::string buffer_;
  size_t expected_ = 0;  // bytes of the body or chunk still to come
  HttpResponse response_;
};

}  // namespace forebay
