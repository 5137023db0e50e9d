"""Senders of webhooks: HTTP/1.1 over raw sockets, HTTP/2, and one for load that keeps a ledger."""

import dataclasses
import socket
import struct
import threading
import uuid

import h2.config
import h2.connection
import h2.events

HOST = "hooks.example.com"


@dataclasses.dataclass(frozen=True)
class Response:
    status: int
    headers: tuple
    body: bytes

    def one(self, name):
        values = self.all(name)
        assert len(values) == 1, f"{name}: {values}"
        return values[0]

    def all(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]


class Connection:
    """One HTTP/1.1 connection, with every byte in the caller's hand."""

    def __init__(self, port, timeout=15.0):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    def send(self, data):
        self._socket.sendall(data)

    def close(self):
        self._socket.close()

    def reset(self):
        """Closes with RST, as a sender that crashed."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def _more(self):
        data = self._socket.recv(65536)
        if not data:
            raise ConnectionError("closed before the answer was whole")
        self._buffer += data

    def response(self):
        while b"\r\n\r\n" not in self._buffer:
            self._more()
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        status = int(lines[0].split(" ")[1])
        if status == 100:
            return self.response()
        headers = []
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers.append((name, value.strip()))
        found = Response(status, tuple(headers), b"")
        length = int((found.all("content-length") or ["0"])[0])
        if "chunked" in " ".join(found.all("transfer-encoding")):
            return dataclasses.replace(found, body=self._chunks())
        while len(self._buffer) < length:
            self._more()
        body, self._buffer = self._buffer[:length], self._buffer[length:]
        return dataclasses.replace(found, body=body)

    def _line(self):
        while b"\r\n" not in self._buffer:
            self._more()
        line, _, self._buffer = self._buffer.partition(b"\r\n")
        return line

    def _chunks(self):
        body = b""
        while True:
            size = int(self._line(), 16)
            while len(self._buffer) < size:
                self._more()
            body, self._buffer = body + self._buffer[:size], self._buffer[size:]
            self._line()
            if size == 0:
                return body


def head(method, path, headers=(), host=HOST):
    lines = [f"{method} {path} HTTP/1.1"]
    if host is not None:
        lines.append(f"host: {host}")
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def request_bytes(path, body=b"", headers=(), method="POST", host=HOST):
    framed = list(headers) + [("content-length", str(len(body)))]
    return head(method, path, framed, host) + body


def chunked_bytes(chunks, trailers=()):
    parts = [b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks if chunk]
    parts.append(b"0\r\n")
    parts += [f"{name}: {value}\r\n".encode("latin-1") for name, value in trailers]
    parts.append(b"\r\n")
    return b"".join(parts)


def post(port, path, body=b"", headers=(), method="POST", host=HOST):
    """One request on a connection of its own."""
    with Connection(port) as connection:
        connection.send(request_bytes(path, body, headers, method, host))
        return connection.response()


def post_chunked(port, path, chunks, headers=(), trailers=()):
    with Connection(port) as connection:
        connection.send(head("POST", path, list(headers) + [("transfer-encoding", "chunked")]))
        connection.send(chunked_bytes(chunks, trailers))
        return connection.response()


def capture(port, path, body=b"", headers=()):
    """A request that must be acknowledged."""
    response = post(port, path, body, headers)
    assert response.status == 200, response
    return response


def post_http2(port, path, body=b"", headers=(), method="POST", trailers=()):
    """One request over cleartext HTTP/2 with prior knowledge."""
    connection = h2.connection.H2Connection(
        config=h2.config.H2Configuration(header_encoding="utf-8")
    )
    with socket.create_connection(("127.0.0.1", port), timeout=15) as link:
        connection.initiate_connection()
        stream = connection.get_next_available_stream_id()
        pseudo = [
            (":method", method),
            (":path", path),
            (":scheme", "http"),
            (":authority", HOST),
        ]
        connection.send_headers(
            stream, pseudo + list(headers), end_stream=not body and not trailers
        )
        link.sendall(connection.data_to_send())
        answer = _H2Answer()
        sent = 0
        while sent < len(body):
            room = min(
                connection.local_flow_control_window(stream), connection.max_outbound_frame_size
            )
            if room == 0:
                answer.receive(connection, link)
                continue
            piece = body[sent : sent + room]
            sent += len(piece)
            last = sent == len(body) and not trailers
            connection.send_data(stream, piece, end_stream=last)
            link.sendall(connection.data_to_send())
        if trailers:
            connection.send_headers(stream, list(trailers), end_stream=True)
            link.sendall(connection.data_to_send())
        while not answer.ended:
            answer.receive(connection, link)
        return Response(answer.status, tuple(answer.headers), answer.body)


class _H2Answer:
    def __init__(self):
        self.status = None
        self.headers = []
        self.body = b""
        self.ended = False

    def receive(self, connection, link):
        data = link.recv(65536)
        if not data:
            raise ConnectionError("closed before the answer was whole")
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.ResponseReceived):
                fields = dict(event.headers)
                self.status = int(fields.pop(":status"))
                self.headers = list(fields.items())
            elif isinstance(event, h2.events.DataReceived):
                self.body += event.data
                connection.acknowledge_received_data(
                    event.flow_controlled_length, event.stream_id
                )
            elif isinstance(event, h2.events.StreamEnded):
                self.ended = True
            elif isinstance(event, (h2.events.StreamReset, h2.events.ConnectionTerminated)):
                raise ConnectionError(f"the stream was reset: {event}")
        link.sendall(connection.data_to_send())


class LoadSender:
    """Posts events over several connections until told to stop, and writes down every answer.

    A connection that breaks is opened again; what was on it is in nobody's ledger, which is the
    sender's view of an event that may or may not have been kept. `port` may lead to nobody for a
    while, as during a restart.
    """

    def __init__(self, port, path="/load", connections=8, body_bytes=200, pace=0.0):
        self.port = port
        self.path = path
        self.acknowledged = {}  # key to status
        self.refused = {}  # key to status
        self.sent = set()
        self._padding = b"x" * body_bytes
        self._pace = pace
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._threads = [
            threading.Thread(target=self._run, args=(number,), daemon=True)
            for number in range(connections)
        ]

    def start(self):
        for thread in self._threads:
            thread.start()
        return self

    def stop(self):
        self._stopping.set()
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive(), "a sender hangs: an answer never came"
        return self

    def __enter__(self):
        return self.start()

    def __exit__(self, *_error):
        self.stop()

    def wait_acknowledged(self, count, timeout=20.0):
        with self._changed:
            reached = self._changed.wait_for(lambda: len(self.acknowledged) >= count, timeout)
            assert reached, f"{len(self.acknowledged)} of {count} acknowledged in {timeout} s"

    def _run(self, number):
        connection = None
        prefix = f"{uuid.uuid4().hex[:8]}-{number}"
        count = 0
        while not self._stopping.is_set():
            count += 1
            key = f"{prefix}-{count}"
            try:
                if connection is None:
                    connection = Connection(self.port)
                with self._changed:
                    self.sent.add(key)
                # In the path too: a listing shows it, so what is dead can be told by its key.
                path = f"{self.path}/{key}"
                connection.send(request_bytes(path, self._padding, headers=[("x-key", key)]))
                response = connection.response()
            except OSError:
                if connection is not None:
                    connection.close()
                    connection = None
                self._stopping.wait(0.01)
                continue
            with self._changed:
                accepted = 200 <= response.status < 300
                (self.acknowledged if accepted else self.refused)[key] = response.status
                self._changed.notify_all()
            if response.all("connection") == ["close"]:
                connection.close()
                connection = None
            if self._pace:
                self._stopping.wait(self._pace)
        if connection is not None:
            connection.close()
