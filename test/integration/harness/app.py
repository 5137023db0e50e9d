"""A scripted app behind Envoy: answers as told, and records every request byte for byte."""

import asyncio
import collections
import dataclasses
import socket
import struct
import threading
import time

from harness.ports import free_port

ANSWER, RESET, CLOSE, HANG = "answer", "reset", "close", "hang"
_REASONS = {200: b"OK", 404: b"Not Found", 500: b"Internal Server Error"}


@dataclasses.dataclass(frozen=True)
class Request:
    method: str
    path: str  # as on the wire, with the query
    headers: tuple  # (name, value) as on the wire
    body: bytes
    chunked: bool
    at: float  # wall clock, when the last byte had come
    mono: float
    connection: int
    raw_head: bytes

    def all(self, name):
        name = name.lower()
        return [value for key, value in self.headers if key.lower() == name]

    def one(self, name):
        values = self.all(name)
        assert len(values) == 1, f"{name}: {values}"
        return values[0]

    @property
    def event_id(self):
        return self.one("forebay-event-id")

    @property
    def attempt(self):
        return int(self.one("forebay-attempt"))

    @property
    def bare_path(self):
        return self.path.split("?")[0]


@dataclasses.dataclass(frozen=True)
class Answer:
    status: int = 200
    headers: tuple = ()
    body: bytes = b""
    delay: float = 0.0
    action: str = ANSWER
    gate: "Gate" = None  # answer once it is open
    truncate: int = None  # send only so many bytes of the body, then reset
    raw: bytes = None  # these bytes instead of a well-formed answer
    drip: float = None  # seconds between the bytes of the body
    close: bool = False  # close the connection after the answer
    reset: bool = False  # reset it after the answer, or after what `truncate` leaves of it
    early: bool = False  # answer once the head of the request is there, and read no more of it
    endless: bytes = None  # after the answer these, again and again

    def encode(self):
        if self.raw is not None:
            return self.raw
        reason = _REASONS.get(self.status, b"Scripted")
        lines = [b"HTTP/1.1 %d %s" % (self.status, reason)]
        lines += [f"{name}: {value}".encode("latin-1") for name, value in self.headers]
        if self.status != 204 and self.status != 304:
            lines.append(b"content-length: %d" % len(self.body))
        return b"\r\n".join(lines) + b"\r\n\r\n" + self.body


class Gate:
    """Holds answers back until it is opened."""

    def __init__(self, loop):
        self._loop = loop
        self._waiting = []
        self._open = False

    def when_open(self, callback):  # on the loop
        if self._open:
            callback()
        else:
            self._waiting.append(callback)

    def open(self):
        self._loop.call_soon_threadsafe(self._release)

    def _release(self):
        self._open = True
        waiting, self._waiting = self._waiting, []
        for callback in waiting:
            callback()


class App:
    """An HTTP/1.1 server on a thread of its own."""

    def __init__(self):
        self.port = free_port()
        self.default = Answer()
        self.chooser = None  # called with each request that has no script; returns an Answer
        self.requests = []
        self.depths = []  # for each request: how many were in flight with it
        self.in_flight = 0
        self.in_flight_max = 0
        self.connections = 0
        self._scripts = {}
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._server = None
        self._open = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    # --- life

    def start(self):
        """Listens; again after refuse(), on the same port."""
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        return self

    async def _listen(self):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        self._server = await self._loop.create_server(
            lambda: _Connection(self), sock=listener, backlog=1024
        )

    def refuse(self):
        """Stops listening and drops every connection: new ones are refused."""
        asyncio.run_coroutine_threadsafe(self._unlisten(), self._loop).result(10)

    async def _unlisten(self):
        if self._server:
            self._server.close()
            self._server = None
        for connection in list(self._open):
            connection.transport.abort()

    def close(self):
        self.refuse()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    # --- what it answers

    def script(self, path, *answers):
        """Answers to requests for `path` (without query), one after the other; the last repeats."""
        self._scripts[path] = collections.deque(answers)

    def gate(self):
        return Gate(self._loop)

    def answer_to(self, request):
        script = self._scripts.get(request.bare_path)
        if not script:
            return self.chooser(request) if self.chooser else self.default
        return script.popleft() if len(script) > 1 else script[0]

    # --- what it saw

    def record(self, request):  # on the loop
        with self._changed:
            self.requests.append(request)
            self.in_flight += 1
            self.depths.append(self.in_flight)
            self.in_flight_max = max(self.in_flight_max, self.in_flight)
            self._changed.notify_all()

    def answers_early(self, path):  # on the loop
        script = self._scripts.get(path.split("?")[0])
        return bool(script) and script[0].early

    def answered(self):  # on the loop
        with self._changed:
            self.in_flight -= 1
            self._changed.notify_all()

    def seen(self, path=None, predicate=None):
        with self._changed:
            return self._matching(path, predicate)

    def _matching(self, path, predicate):
        return [
            request
            for request in self.requests
            if (path is None or request.bare_path == path)
            and (predicate is None or predicate(request))
        ]

    def wait_for(self, count, path=None, predicate=None, timeout=10.0):
        """The matching requests, once there are at least `count`."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                found = self._matching(path, predicate)
                if len(found) >= count:
                    return found
                left = deadline - time.monotonic()
                assert left > 0, (
                    f"the app saw {len(found)} of {count} requests within {timeout} s"
                    f" (path {path}); in all {len(self.requests)}"
                )
                self._changed.wait(left)

    def stays_at(self, count, path=None, predicate=None, seconds=0.3):
        """Asserts that there are exactly `count` matching requests, and no more for `seconds`."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while True:
                found = self._matching(path, predicate)
                assert len(found) == count, f"the app saw {len(found)} requests, not {count}"
                left = deadline - time.monotonic()
                if left <= 0:
                    return found
                self._changed.wait(left)

    def wait_in_flight(self, count, timeout=10.0):
        with self._changed:
            reached = self._changed.wait_for(lambda: self.in_flight >= count, timeout)
            assert reached, f"{self.in_flight} in flight, not {count}"


class _Connection(asyncio.Protocol):
    """Parses requests, one at a time, and answers them."""

    def __init__(self, app):
        self._app = app
        self._buffer = bytearray()
        self._busy = False
        self.transport = None

    def connection_made(self, transport):
        self.transport = transport
        self._app.connections += 1
        self._number = self._app.connections
        self._app._open.add(self)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, _error):
        self._app._open.discard(self)

    def data_received(self, data):
        self._buffer += data
        self._step()

    def _step(self):
        if self._busy:
            return
        request, used = _parse(self._buffer, self._number)
        if request is None:
            return
        if used is None:
            if not self._app.answers_early(request.path):
                return
            self.transport.pause_reading()
        else:
            del self._buffer[:used]
        self._busy = True
        self._app.record(request)
        answer = self._app.answer_to(request)
        if answer.action == HANG:
            return
        if answer.gate:
            answer.gate.when_open(lambda: self._answer(answer))
        elif answer.delay:
            self._app._loop.call_later(answer.delay, self._answer, answer)
        else:
            self._answer(answer)

    def _answer(self, answer):
        self._app.answered()
        if self.transport.is_closing():
            return
        if answer.action == RESET:
            self._reset()
        elif answer.action == CLOSE:
            self.transport.close()
        elif answer.truncate is not None:
            encoded = answer.encode()
            self.transport.write(encoded[: len(encoded) - len(answer.body) + answer.truncate])
            self._end(answer)
        elif answer.drip is not None:
            encoded = answer.encode()
            whole_head = len(encoded) - len(answer.body)
            self.transport.write(encoded[:whole_head])
            self._drip(encoded[whole_head:], answer.drip)
        else:
            self.transport.write(answer.encode())
            if answer.endless is not None:
                self._repeat(answer.endless)
                return
            if answer.close or answer.reset:
                self._end(answer)
                return
            self._busy = False
            if self._buffer:
                self._step()

    def _drip(self, rest, seconds):
        if rest and not self.transport.is_closing():
            self.transport.write(rest[:1])
            self._app._loop.call_later(seconds, self._drip, rest[1:], seconds)

    def _repeat(self, piece):
        if not self.transport.is_closing():
            if self.transport.get_write_buffer_size() < 1 << 20:
                self.transport.write(piece)
            self._app._loop.call_later(0.001, self._repeat, piece)

    def _end(self, answer):
        if answer.reset:
            # The other side must have read what was written: a reset may overtake it.
            self._app._loop.call_later(0.05, self._reset)
        else:
            self.transport.close()

    def _reset(self):
        if self.transport.is_closing():
            return
        # Linger of zero makes the kernel send RST instead of FIN.
        linger = struct.pack("ii", 1, 0)
        self.transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, linger
        )
        self.transport.abort()


def _parse(buffer, connection):
    """The first request in `buffer` and its length.

    The length is None while the body is not whole, the request while the head isn't.
    """
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        return None, None
    head = bytes(buffer[:end])
    lines = head.split(b"\r\n")
    method, path, _version = lines[0].decode("latin-1").split(" ", 2)
    headers = []
    length = 0
    chunked = False
    for line in lines[1:]:
        name, _, value = line.decode("latin-1").partition(":")
        value = value.strip(" \t")
        headers.append((name, value))
        lowered = name.lower()
        if lowered == "content-length":
            length = int(value)
        elif lowered == "transfer-encoding":
            chunked = "chunked" in value.lower()
    begin = end + 4
    if chunked:
        body, used = _parse_chunks(buffer, begin) or (b"", None)
    else:
        whole = len(buffer) >= begin + length
        used = begin + length if whole else None
        body = bytes(buffer[begin:used]) if whole else b""
    request = Request(
        method, path, tuple(headers), body, chunked, time.time(), time.monotonic(), connection, head
    )
    return request, used


def _parse_chunks(buffer, at):
    body = bytearray()
    while True:
        line = buffer.find(b"\r\n", at)
        if line < 0:
            return None
        size = int(bytes(buffer[at:line]).split(b";")[0], 16)
        at = line + 2
        if size == 0:
            end = buffer.find(b"\r\n", at)
            return None if end < 0 else (bytes(body), end + 2)
        if len(buffer) < at + size + 2:
            return None
        body += buffer[at : at + size]
        at += size + 2
