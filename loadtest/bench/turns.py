#!/usr/bin/env python3
"""Another festabook (an older build, say) and this one in turns, each with servers of its own:

    python3 loadtest/bench/turns.py OTHER [ROUNDS [SECONDS]]

Prints, for each kind of request, this one's rate over the other's: every round's, and the median.
"""
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from loadtest.bench.figures import Figures, say  # noqa: E402
from loadtest.bench.load import IN_FLIGHT, median, rotated, wrk  # noqa: E402
from loadtest.bench.stand import Stand  # noqa: E402

SEATS = 120_000
SELLERS = 96  # in flight; each may have a connection


class Side:
    """One binary, with the rates of what it is asked for."""

    def __init__(self, stand, seconds):
        self.stand, self.seconds = stand, seconds
        self.sold_out = stand.hall(1)
        wrk(stand.server("memory"), 1, 1, "reserve.lua", self.sold_out, stand.buyers, 1)

    def sales(self, strategy, in_flight):
        performance = self.stand.hall(SEATS)
        server = self.stand.server(strategy, FESTA_LOCK_STRATEGY=strategy)
        wrk(server, self.seconds, in_flight, "reserve.lua", performance, self.stand.buyers, 1)
        return self.stand.sold(performance) / self.seconds

    def rates(self):
        memory = self.stand.server("memory")
        yield "/healthz", wrk(memory, self.seconds, IN_FLIGHT)["rate"]
        yield "losers on a sold seat", wrk(memory, self.seconds, IN_FLIGHT, "sold.lua", self.sold_out, self.stand.buyers)["rate"]
        yield "one sale after the other, memory", self.sales("memory", 1)
        for strategy in ("memory", "redis-pubsub", "redis-fair"):
            yield f"sales, {strategy}", self.sales(strategy, SELLERS)


def main():
    other, rounds, seconds = sys.argv[1], int((sys.argv[2:] + ["5"])[0]), int((sys.argv[3:] + ["2"])[0])
    build = ROOT / ".build" / "release"
    folder = pathlib.Path(os.environ.get("FESTA_RUN_DIR") or ROOT / ".run" / "turns")
    with Stand(folder / "other", other, None, Figures(""), build / "festabook") as one, Stand(folder / "this", build / "festabook", None, Figures("")) as two:
        sides = {"other": Side(one, seconds), "this": Side(two, seconds)}
        ratios, rates = {}, {}
        for round_ in range(rounds + 1):  # the first one warms up
            found = {name: dict(sides[name].rates()) for name in rotated(list(sides), round_)}
            for what in found["this"] if round_ else ():
                ratios.setdefault(what, []).append(found["this"][what] / found["other"][what])
                rates.setdefault(what, []).append((found["other"][what], found["this"][what]))
            say(f"  round {round_}: " + ", ".join(f"{what} {found['other'][what]:.0f} → {found['this'][what]:.0f}" for what in found["this"]))
    for what, all_ in ratios.items():
        before, after = (median([pair[i] for pair in rates[what]]) for i in (0, 1))
        print(f"{what}: {median(all_):.2f} ({min(all_):.2f}–{max(all_):.2f}), {before:.0f}/s → {after:.0f}/s")


if __name__ == "__main__":
    main()
