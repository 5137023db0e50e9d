"""Captures what a child process writes, and lets tests wait for a line."""

import re
import threading
import time

# What Envoy or the module write when something is wrong. A test that wants one says so.
_BAD = re.compile(
    r"\[(?:critical|error)\]"
    r"|assert failure|ENVOY_BUG|envoy bug failure"
    r"|Caught (?:Segmentation fault|Aborted|Illegal instruction|Bus error|Floating point)"
    r"|terminate called|\*\*\* stack smashing|double free|corrupted size"
    r"|deprecat",
    re.IGNORECASE,
)
# Envoy's own remarks that have nothing to do with the module.
_HARMLESS = re.compile(
    r"\[backtrace\] .*Envoy version"
    r"|no configured limit to the number of allowed active downstream connections"
)
_INVENTORY = re.compile(r"server\.cc:\d+\] {3}[\w. ]+: |server\.cc:\d+\] +(statically|HTTP header)")


class Log:
    """Lines as they come, in memory and in `path`."""

    def __init__(self, path):
        self.path = path
        self.lines = []
        self._changed = threading.Condition()
        self._ended = False
        self._expected = []
        self._forgiven = set()  # numbers of lines

    def follow(self, stream):
        """Starts reading `stream` (binary) until its end; several streams follow one another."""
        self._ended = False
        thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        thread.start()
        return thread

    def _read(self, stream):
        with open(self.path, "ab") as file:
            for raw in stream:
                file.write(raw)
                file.flush()
                with self._changed:
                    self.lines.append(raw.decode("utf-8", "replace").rstrip("\n"))
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def mark(self):
        """A place in the log, for `since`."""
        with self._changed:
            return len(self.lines)

    def wait_for(self, pattern, timeout=10.0, since=0):
        """The first line from `since` on that matches; fails when the stream ends without one."""
        regex = re.compile(pattern)
        deadline = time.monotonic() + timeout
        seen = since
        with self._changed:
            while True:
                while seen < len(self.lines):
                    if regex.search(self.lines[seen]):
                        return self.lines[seen]
                    seen += 1
                left = deadline - time.monotonic()
                if self._ended or left <= 0:
                    why = "the process ended" if self._ended else f"not within {timeout} s"
                    raise AssertionError(f"no line matches {pattern!r}: {why}\n{self.tail()}")
                self._changed.wait(left)

    def grep(self, pattern, since=0):
        regex = re.compile(pattern)
        with self._changed:
            return [line for line in self.lines[since:] if regex.search(line)]

    def expect(self, pattern):
        """Bad lines that match are what the test is about."""
        self._expected.append(re.compile(pattern, re.IGNORECASE))

    def forgive(self, since):
        """Nothing that was written from `since` until now counts as bad."""
        with self._changed:
            self._forgiven.update(range(since, len(self.lines)))

    def bad_lines(self):
        with self._changed:
            return [
                line
                for number, line in enumerate(self.lines)
                if number not in self._forgiven
                and _BAD.search(line)
                and not _HARMLESS.search(line)
                and not any(expected.search(line) for expected in self._expected)
            ]

    def tail(self, count=40):
        """The last lines, without Envoy's lists of what is built into it."""
        shown = [line for line in self.lines if not _INVENTORY.search(line)]
        return "\n".join(shown[-count:])
