"""The machine under the benchmark: what it is, and who else used it meanwhile."""

import os
import pathlib
import platform
import resource
import subprocess
import time

PROC = pathlib.Path("/proc")


def seconds_of(process_id):
    """CPU time of a process's threads so far, and by thread name."""
    used = {}
    for task in (PROC / str(process_id) / "task").iterdir():
        try:
            name = (task / "comm").read_text().strip()
            nanoseconds = int((task / "schedstat").read_text().split()[0])
        except OSError:
            continue  # ended meanwhile
        used[name] = used.get(name, 0.0) + nanoseconds / 1e9
    return used


def kernel_threads_seconds():
    """What the kernel does in threads of its own, such as the journal's, it does for us."""
    ticks = 0
    for path in PROC.iterdir():
        if not path.name.isdigit():
            continue
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[1] == "2":  # the parent of them all
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Meter:
    """How much of the machine went to others since the meter was made. `ours` are the ids of our
    processes that still run; those that ended (wrk) are known to the system."""

    def __init__(self, ours):
        self.ours = ours
        self.start = self._sample()

    def _sample(self):
        tick = os.sysconf("SC_CLK_TCK")
        fields = [int(x) / tick for x in (PROC / "stat").read_text().split("\n")[0].split()[1:]]
        user, nice, system, stolen = fields[0], fields[1], fields[2], fields[7]
        mine = sum(sum(seconds_of(each).values()) for each in self.ours)
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
            usage = resource.getrusage(who)
            mine += usage.ru_utime + usage.ru_stime
        return time.monotonic(), user + nice + system + stolen - mine - kernel_threads_seconds()

    def foreign_share(self):
        start, before = self.start
        now, after = self._sample()
        return max(0.0, (after - before) / ((now - start) * os.cpu_count()))


def describe(envoy):
    cpu = "unknown"
    for line in (PROC / "cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    version = subprocess.run([envoy, "--version"], capture_output=True, text=True,
                             check=False).stdout.split("version:")[-1].strip()
    return {
        "cpu": cpu, "cores": os.cpu_count(), "kernel": platform.release(),
        "envoy": version.split("/")[1] if "/" in version else version,
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
