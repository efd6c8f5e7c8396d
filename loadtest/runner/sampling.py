"""Memory and processor time of processes, from /proc, while something runs."""

import os
import threading
import time

_TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20


def usage(pid):
    """(resident megabytes, processor milliseconds so far); zeros for a process that is gone."""
    try:
        with open(f"/proc/{pid}/statm") as statm, open(f"/proc/{pid}/stat") as stat:
            resident = int(statm.read().split()[1]) * _PAGE_MB
            fields = stat.read().rpartition(")")[2].split()
            return resident, (int(fields[11]) + int(fields[12])) * _TICK_MS
    except (OSError, IndexError):
        return 0.0, 0.0


class Sampler:
    """Looks at all processes every `every` seconds. `pids` is asked each time: instances may be restarted."""

    def __init__(self, pids, every=0.2):
        self._pids = pids
        self._every = every
        self._over = threading.Event()
        self._spent = {}  # by pid: (at first, at last) in milliseconds
        self.samples = []  # (time.time(), resident megabytes of all, processor milliseconds of all since the start)

    def __enter__(self):
        self._look()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()
        self._look()

    def _run(self):
        while not self._over.wait(self._every):
            self._look()

    def _look(self):
        now, resident = time.time(), 0.0
        for pid in self._pids():
            megabytes, spent = usage(pid)
            resident += megabytes
            if spent > 0:
                # One that is started while we look has spent all of it meanwhile.
                first = self._spent.get(pid, (spent if not self.samples else 0.0, 0.0))[0]
                self._spent[pid] = (first, spent)
        self.samples.append((now, resident, self.cpu_ms()))

    def cpu_ms(self):
        return sum(last - first for first, last in self._spent.values())

    def rss_mb(self):
        return {"start": round(self.samples[0][1], 1), "max": round(max(sample[1] for sample in self.samples), 1)}


def timeline(samples, received, start, step):
    """[{"t", "rss_mb", "cpu_percent", "accepted_per_s"}] from the start on, one per `step` seconds.

    `samples` as the Sampler has them, `received`: when accepted answers came, in seconds since the epoch."""
    if not samples:
        return []
    points = []
    for number in range(max(1, int((samples[-1][0] - start) / step + 0.999))):
        begin, end = start + number * step, start + (number + 1) * step
        inside = [sample for sample in samples if begin <= sample[0] < end]
        if not inside:
            continue
        before = [sample for sample in samples if sample[0] < begin][-1:] or inside[:1]
        seconds = inside[-1][0] - before[0][0]
        points.append({
            "t": round(number * step, 3),
            "rss_mb": round(max(sample[1] for sample in inside), 1),
            "cpu_percent": round((inside[-1][2] - before[0][2]) / seconds / 10, 1) if seconds > 0 else 0.0,
            "accepted_per_s": round(sum(begin <= moment < end for moment in received) / step, 1)})
    return points
