"""Free TCP ports, below the range that the kernel hands to clients.

A port picked by binding to 0 could be taken by any outgoing connection before Envoy binds it, or
while a killed Envoy restarts; one below the range can't.
"""

import os
import random
import socket
import threading

_FIRST = 14000
_LAST = 31999
_lock = threading.Lock()
_taken = set()
_random = random.Random(os.getpid() ^ int.from_bytes(os.urandom(4), "big"))


def free_port():
    """A port that nobody listens on, and that no earlier call in this process returned."""
    with _lock:
        for _ in range(1000):
            port = _random.randint(_FIRST, _LAST)
            if port in _taken:
                continue
            with socket.socket() as probe:
                # As Envoy does: a port whose connections linger in TIME_WAIT is free.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError:
                    continue
            _taken.add(port)
            return port
    raise RuntimeError("no free port found")
