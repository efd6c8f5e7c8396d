#!/usr/bin/env python3
"""What festabook does per second as a ratio to what others do in the same minutes; started by ./dev bench.

Both sides of a ratio take turns, and the median over the rounds counts: machines like to change their speed.
"""
import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from loadtest.bench import coupons, lists, sales, waiting, watchers  # noqa: E402
from loadtest.bench.figures import Figures, say  # noqa: E402
from loadtest.bench.load import IN_FLIGHT, median, rotated, wrk  # noqa: E402
from loadtest.bench.stand import Stand, memory_mb  # noqa: E402
from loadtest.runner.processes import StartError  # noqa: E402
from loadtest.runner.results import commit  # noqa: E402


def losers(lab, rounds, seconds):
    """Answers to people who want a seat that is sold, over an answer that does nothing."""
    server = lab.server("memory")
    performance = lab.hall(1)
    wrk(server, 1, 1, "reserve.lua", performance, lab.buyers, 1)
    ratios, rates = [], {"healthz": [], "losers": []}
    for round_ in range(rounds + 1):
        found = {}
        for name in rotated(["healthz", "losers"], round_):
            one = wrk(server, seconds, IN_FLIGHT) if name == "healthz" else \
                wrk(server, seconds, IN_FLIGHT, "sold.lua", performance, lab.buyers)
            if name == "losers" and abs(one["count"] - one["others"]) > IN_FLIGHT:
                raise RuntimeError(f"not every request was refused: {one}")
            found[name] = one["rate"]
        if round_ == 0:
            continue
        ratios.append(found["losers"] / found["healthz"])
        for name in rates:
            rates[name].append(found[name])
        if lab.sold(performance) != 1 or waiting.refusal(lab, server, performance) != "ALREADY_RESERVED_SEAT":
            raise RuntimeError("it is not the sold seat for which they were refused")
        say(f"  round {round_}: losers {found['losers']:.0f}/s, healthz {found['healthz']:.0f}/s")
    lab.figures.result("losers/s on a sold seat, over /healthz", ratios, goal=0.75,
               detail=f"{median(rates['losers']):.0f}/s of {median(rates['healthz']):.0f}/s")


SET_SCRIPT = "return redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])"


def redis_work(lab):
    """Since the last time it was asked: microseconds that Redis has spent on each EVALSHA, and how often it has published."""
    stats = {}
    for line in lab.redis.command("INFO", "commandstats").splitlines():
        if line.startswith("cmdstat_"):
            name, values = line[len("cmdstat_"):].split(":", 1)
            stats[name] = {key: float(value) for key, value in (one.split("=") for one in values.split(","))}
    lab.redis.command("CONFIG", "RESETSTAT")
    return stats.get("evalsha", {}).get("usec_per_call", 0.0), stats.get("publish", {}).get("calls", 0.0)


def evalsha(lab, seconds):
    """One connection, one after the other: a script that does no more than any lock must, one write. Its rate, and the
    microseconds of it inside Redis."""
    sha = lab.redis.command("SCRIPT", "LOAD", SET_SCRIPT)
    redis_work(lab)
    rate, count = 0.0, 4_000
    for _ in range(2):  # the first tells how many fit into the time
        text = subprocess.run(["redis-benchmark", "-p", str(lab.redis.port), "-c", "1", "-n", str(count), "--csv", "EVALSHA",
                               sha, "1", "bench:key", "owner", "10000"], check=True, capture_output=True, text=True).stdout
        rate = float(text.splitlines()[-1].split('","')[1].strip('"'))
        count = max(1000, int(rate * seconds))
    return rate, redis_work(lab)[0]


def handed_on(lab, storage, waiters, processes, block, seconds):
    """Hand-offs a second, the microseconds that one costs our processes and that each script costs Redis, hand-offs for each
    PUBLISH, missed offers."""
    start = time.time() + 2 + waiters / 4000  # a busy machine takes so long until all of them stand in line
    lab.epoch += processes
    prefix = f"bench{lab.epoch}"
    running = [subprocess.Popen([str(lab.handoffs), storage, str(lab.redis.port), str(waiters // processes), f"{start:.3f}",
                                 str(seconds), str(lab.epoch + i), prefix, *([str(i), str(processes), str(block)] if block else [])],
                                stdout=subprocess.PIPE, text=True) for i in range(processes)]
    grants, cpu, missed = 0, 0.0, 0
    try:
        for process in running:
            text = process.communicate(timeout=120)[0]
            if process.returncode != 0:
                raise RuntimeError("handoffs failed")
            grants += int(text.split()[0])
            cpu += float(text.split()[1])
            missed += int(text.split()[2])
    finally:
        for process in running:
            process.kill()
    script, published = redis_work(lab)
    return {"rate": grants / seconds, "cpu_us": cpu * 1e6 / max(grants, 1), "script_us": script,
            "per_publish": grants / max(published, 1.0), "missed": missed}


MIXED = {0: "", 1: ", interleaved", 11: ", in blocks of 11"}


def handoffs(lab, rounds, seconds):
    # Locks on Redis that hand a key on in an order; those whose order holds overall, with many waiters, too.
    lines = [one for one in lab.strategies if one.kind == "lock" and one.needs == "redis" and one.order != "none"]
    strict = [one.name for one in lines if one.order == "overall"]
    # Storage, waiters, processes, and how many neighbours in line are of one process; 0: as chance has it.
    kinds = [(name, waiters, 1, 0) for name in strict for waiters in (100, 10_000)]
    kinds += [(name, waiters, 3, block) for name in strict for waiters, block in ((99, 11), (10_000, 0), (99, 1))]
    kinds += [(one.name, *kind) for one in lines if one.name not in strict for kind in ((100, 1, 0), (99, 3, 11))]
    ratios, found = {kind: [] for kind in kinds}, {kind: [] for kind in kinds}
    yardsticks = []
    for round_ in range(rounds):
        # Each one's yardstick is half before, half behind it: what is behind one is before the next.
        before = evalsha(lab, seconds / 2)
        for kind in rotated(kinds, round_):
            found[kind].append(handed_on(lab, *kind, seconds))
            behind = evalsha(lab, seconds / 2)
            yardsticks += [before, behind]
            ratios[kind].append(found[kind][-1]["rate"] * 2 / (before[0] + behind[0]))
            before = behind
        say(f"  round {round_ + 1}: " + ", ".join(f"{s} {w}×{p}{MIXED[b]}: {found[(s, w, p, b)][-1]['rate']:.0f}/s" for s, w, p, b in kinds))
    goals = {(name, *kind): goal for name in strict for kind, goal in (((100, 1, 0), 0.80), ((99, 3, 11), 0.35), ((99, 3, 1), 0.60))}
    for kind in kinds:
        storage, waiters, processes, block = kind
        middle = {name: median([one[name] for one in found[kind]]) for name in ("rate", "cpu_us", "script_us", "per_publish", "missed")}
        lab.figures.result(f"hand-offs/s, {storage}, {waiters} waiters, {processes} process{'es' if processes > 1 else ''}"
                           f"{MIXED[block]}, over EVALSHA",
                   ratios[kind], goal=goals.get(kind),
                   detail=f"{middle['rate']:.0f}/s of {median([rate for rate, _ in yardsticks]):.0f}/s; CPU {middle['cpu_us']:.0f} µs"
                          f" per hand-off, and inside Redis {middle['script_us']:.0f} µs per script"
                          f" ({median([inside for _, inside in yardsticks]):.0f} of the yardstick)"
                          + (f"; {middle['per_publish']:.1f} hand-offs per PUBLISH, {middle['missed']:.0f} offers missed"
                             if processes > 1 else ""))
    for name in strict:
        few, many = (name, 100, 1, 0), (name, 10_000, 1, 0)
        lab.figures.result(f"hand-offs, {name}: 10,000 waiters over 100, 1 process", [b / a for a, b in zip(ratios[few], ratios[many])], goal=0.90)


def memory(lab, soak_seconds):
    """Idle, with 10,000 requests waiting for one lock, and after a soak."""
    server = lab.server("soak", FESTA_LOCK_STRATEGY="memory", FESTA_LOCK_MAX_WAITERS=20_000, FESTA_LOCK_MAX_WAITERS_PER_KEY=20_000,
                        FESTA_HTTP_MAX_REQUESTS=20_000, FESTA_LOCK_LOCKABLES_ANNOUNCEMENT_PINS_WAIT_MS=60_000)
    idle = memory_mb(server.pid)
    lab.figures.figure("RSS idle", idle, "MB", goal=25)
    per_connection, per_waiter = waiting.cost(lab, server, 10_000)
    lab.figures.figure("RSS per waiting request at 10,000, besides its connection", per_waiter - per_connection, "KiB", goal=7)
    lab.figures.figure("RSS per idle connection at 10,000", per_connection, "KiB")
    if soak_seconds == 0:
        return
    samples = []
    end = time.time() + soak_seconds
    while time.time() < end:
        performance = lab.hall(sales.SEATS)
        wrk(server, min(10, max(2, int(end - time.time()))), IN_FLIGHT, "reserve.lua", performance, lab.buyers, 1)
        if lab.sold(performance) == 0:
            raise RuntimeError("the soak sells nothing")
        samples.append(memory_mb(server.pid))
        say(f"  soak: {samples[-1]:.1f} MB")
    # The first quarter fills bounded caches and free lists.
    settled = samples[len(samples) // 4:]
    if len(settled) < 4:
        say("  too short a soak for a verdict")
        return
    growth = statistics.linear_regression(range(len(settled)), settled).slope * (len(settled) - 1)
    lab.figures.figure("RSS growth over the last three quarters of the soak", growth, "MB", goal=2,
               detail=f"{soak_seconds} s, {samples[0]:.0f} → {samples[-1]:.0f} MB")


# Instances run to the end of the bench; what is measured of one alone comes first.
PARTS = ("memory", "sales", "keyed", "lone", "half", "coupons", "losers", "lists", "handoffs", "scaling", "watchers")
OF_SALES = {"sales", "keyed", "lone", "half", "scaling"}
LONGEST = 15  # minutes of all parts as they are by default


def measure(lab, part, options, stall):
    if part == "sales":
        stall.run(options.rounds)
    elif part == "keyed":
        stall.run_keyed(options.rounds)
    elif part == "lone":
        stall.lone(options.rounds)
    elif part == "half":
        stall.at_half_capacity()
    elif part == "scaling":
        stall.scaling()
    elif part == "watchers":
        watchers.run(lab, options.rounds)
    elif part == "coupons":
        coupons.run(lab, options.rounds, options.seconds)
    elif part == "losers":
        losers(lab, options.rounds, options.seconds)
    elif part == "lists":
        lists.run(lab, options.rounds, options.seconds)
    elif part == "handoffs":
        handoffs(lab, options.rounds, options.seconds)
    else:
        memory(lab, options.soak)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2, help="of one side in one round")
    parser.add_argument("--soak", type=int, default=0, help="seconds; 0: none")
    parser.add_argument("--only", default=",".join(PARTS), help="of " + ", ".join(PARTS))
    parser.add_argument("--out", type=pathlib.Path, help="folder for bench.md and bench.json")
    options = parser.parse_args()
    only = options.only.split(",")
    for part in only:
        if part not in PARTS:
            parser.error(f"there is no part '{part}'")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    build = ROOT / ".build" / "release"
    try:
        with Stand(os.environ.get("FESTA_RUN_DIR") or ROOT / ".run" / "bench", os.environ.get("BENCH_BINARY") or build / "festabook",
                   build / "loadtest" / "handoffs", Figures(commit())) as lab:
            return run(lab, only, options)
    except KeyboardInterrupt:
        return 130
    except StartError as error:
        print(f"festabook: {error}", file=sys.stderr)
        return 1


def write(figures, folder):
    """After each part, so that an interruption loses nothing. None: they are only printed."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench.md").write_text(figures.summary())
    (folder / "bench.json").write_text(json.dumps(figures.results, indent=1, ensure_ascii=False))


def run(lab, only, options):
    stall = sales.Stall(lab, options.seconds) if OF_SALES & set(only) else None
    for number, part in enumerate(only, start=1):
        say(f"{part}: part {number} of {len(only)}, {lab.figures.seconds() / 60:.1f} minutes so far")
        began = time.monotonic()
        measure(lab, part, options, stall)
        lab.figures.took(part, time.monotonic() - began)
        write(lab.figures, options.out)
    if set(only) == set(PARTS):
        lab.figures.figure("time of all parts", lab.figures.seconds() / 60, "minutes", goal=LONGEST if options.soak == 0 else None)
        write(lab.figures, options.out)
    print("\n" + lab.figures.summary())
    return 0 if lab.figures.all_reached() else 1


if __name__ == "__main__":
    sys.exit(main())
