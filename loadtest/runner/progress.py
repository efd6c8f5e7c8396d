"""What people see while a run goes on."""

import time


def duration(seconds):
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


class Progress:
    """n of m, what runs, what came of it, how long the rest may take."""

    def __init__(self, total):
        self._total = total
        self._done = 0
        self._started = self._began = time.monotonic()

    def begin(self, what):
        self._began = time.monotonic()
        print(f"[{self._done + 1:>{len(str(self._total))}}/{self._total}] {what} …", end=" ", flush=True)

    def end(self, result):
        self._done += 1
        now = time.monotonic()
        left = (now - self._started) / self._done * (self._total - self._done)
        more = f", about {duration(left)} left" if self._done < self._total else ""
        print(f"{result} ({now - self._began:.1f} s{more})", flush=True)


def summary(measured):
    """One run of the comparison in a few words."""
    facts, verdict = measured.verdict.facts, measured.verdict
    counts = f"{facts['sold']} of {facts['limit']}" if "sold" in facts else "no result"
    if measured.is_blind():
        return f"{counts}: this control did not fail, the test was blind"
    if measured.cell.must_fail():
        return f"{counts}, oversold by {verdict.oversold}, as it must"
    return f"{counts}, ok" if not verdict.violations else f"{counts}, BROKEN: {verdict.violations[0]}"
