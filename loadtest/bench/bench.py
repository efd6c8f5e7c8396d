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

from lab import BUYERS, Lab, cpu_seconds, memory_mb, say
import waiting

HERE = pathlib.Path(__file__).resolve().parent
# To PostgreSQL, for the service and for pgbench: what the service has by default, and what suits two cores.
MANY, FEW = 32, 8
IN_FLIGHT = 64     # requests that wrk keeps open where no database connection limits them
SEATS = 50_000     # of one hall
TIME_FORMAT = 'YYYY-MM-DD"T"HH24:MI:SS.US'


def median(values):
    return statistics.median(values) if values else None


def wrk(server, seconds, in_flight, *script):
    """Requests per second, and how many were not answered with 2xx."""
    command = ["wrk", "-t1", f"-c{in_flight}", f"-d{seconds}s", "--latency"]
    if script:
        command += ["-s", str(HERE / script[0])]
    command += [server.url if script else server.url + "/healthz"]
    if script:
        command += ["--", *map(str, script[1:])]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {"others": 0}
    for line in text.splitlines():
        words = line.split()
        if line.startswith("Requests/sec:"):
            found["rate"] = float(words[1])
        elif "requests in" in line:
            found["count"] = int(words[0])
        elif "Non-2xx" in line:
            found["others"] = int(words[-1])
        elif words[:1] == ["99%"]:
            found["p99"] = milliseconds(words[1])
    return found


def milliseconds(text):
    for unit, factor in (("us", 0.001), ("ms", 1.0), ("s", 1000.0)):
        if text.endswith(unit):
            return float(text[:-len(unit)]) * factor
    raise ValueError(text)


def rotated(sides, round_):
    """So that no side always follows the same other one."""
    at = round_ % len(sides)
    return sides[at:] + sides[:at]


class Reservations:
    """Free seats sold per second, over pgbench with the very statement."""

    def __init__(self, lab, seconds):
        self.lab, self.seconds = lab, seconds
        self.script = self.pgbench_script()

    def server(self, strategy, connections):
        return self.lab.server(f"{strategy}-{connections}", FESTA_LOCK_STRATEGY=strategy,
                               FESTA_DATABASE_CONNECTIONS=connections)

    def pgbench_script(self):
        """The statement as PostgreSQL received it from the service: nobody can forget to copy a change."""
        performance = self.lab.hall(1)
        self.sell_on(self.server("memory", MANY), performance, 1, seconds=1)
        sql = self.lab.query("SELECT query FROM pg_stat_activity WHERE application_name = 'festabook'"
                             " AND query LIKE 'WITH seat AS%' LIMIT 1")
        for number, name in enumerate(("performance", "location", "number", "user", "fence"), start=1):
            sql = sql.replace(f"${number}", f":{name}")
        sql = sql.replace(f"'{TIME_FORMAT}'", ":format")  # pgbench would take its colons for variables
        path = self.lab.folder / "reserve.sql"
        # As many buyers as the service has: a sale also looks at its buyer's row.
        path.write_text("\\set i :i + 1\n\\set number :i * :clients + :client_id + 1\n"
                        f"\\set user :first + :number % {BUYERS}\n" + sql + ";\n")
        return path

    def sell_on(self, server, performance, in_flight, seconds):
        return wrk(server, seconds, in_flight, "reserve.lua", performance, self.lab.buyers, 1)

    def pgbench(self, connections):
        performance = self.lab.hall(SEATS)
        variables = {"i": -1, "clients": connections, "performance": performance, "location": "A",
                     "first": self.lab.first_buyer, "fence": 1, "format": TIME_FORMAT}
        command = ["pgbench", "-n", "-M", "prepared", "-c", str(connections), "-j", "2", "-T", str(self.seconds),
                   "-f", str(self.script), *self.lab.libpq()]
        for name, value in variables.items():
            command += ["-D", f"{name}={value}"]
        before = self.lab.postgres_cpu_seconds()
        subprocess.run(command, check=True, capture_output=True, text=True, env=self.lab.libpq_environment())
        sold = self.lab.sold(performance)
        if sold == 0:
            raise RuntimeError("pgbench has sold nothing")
        return {"rate": sold / self.seconds, "refused": 0,
                "postgres_us": (self.lab.postgres_cpu_seconds() - before) * 1e6 / sold}

    def side(self, name, connections, in_flight=None):
        """Three times as many requests as connections: one has its row while another is answered and a third takes its
        lock."""
        server, performance = self.server(name, connections), self.lab.hall(SEATS)
        in_flight = in_flight or 3 * connections
        before, postgres_before = cpu_seconds(server.pid), self.lab.postgres_cpu_seconds()
        found = self.sell_on(server, performance, in_flight, self.seconds)
        cpu, postgres = cpu_seconds(server.pid) - before, self.lab.postgres_cpu_seconds() - postgres_before
        sold = self.lab.sold(performance)
        return {"rate": sold / self.seconds, "refused": found["others"] / self.seconds, "cpu_us": cpu * 1e6 / sold,
                "postgres_us": postgres * 1e6 / sold, "p99_ms": found["p99"]}

    def run(self, rounds, connections, goals):
        ratios, rates, cpu, postgres, p99 = {"memory": [], "redis-pubsub": []}, {}, {}, {}, {}
        for round_ in range(rounds + 1):
            found = {}
            for name in rotated(["pgbench", "memory", "redis-pubsub"], round_):
                found[name] = self.pgbench(connections) if name == "pgbench" else self.side(name, connections)
                if found[name]["refused"] > 0:
                    raise RuntimeError(f"not all answers of {name} were sales: {found[name]}")
                rates.setdefault(name, []).append(found[name]["rate"])
                postgres.setdefault(name, []).append(found[name]["postgres_us"])
            if round_ == 0:
                rates.clear()  # warm-up
                postgres.clear()
                continue
            for name in ratios:
                ratios[name].append(found[name]["rate"] / found["pgbench"]["rate"])
                cpu.setdefault(name, []).append(found[name]["cpu_us"])
                p99.setdefault(name, []).append(found[name]["p99_ms"])
            say(f"  round {round_}: " + ", ".join(f"{n} {found[n]['rate']:.0f}/s" for n in rates))
        for name, goal in zip(ratios, goals):
            self.lab.result(f"reservations/s, {name}, over pgbench, {connections} connections", ratios[name], goal=goal,
                            detail=f"{median(rates[name]):.0f}/s of {median(rates['pgbench']):.0f}/s; server CPU"
                                   f" {median(cpu[name]):.0f} µs per sale, PostgreSQL's {median(postgres[name]):.0f}"
                                   f" ({median(postgres['pgbench']):.0f} for pgbench); p99 {median(p99[name]):.1f} ms")

    def scaling(self):
        """This many requests in flight, each with its own seat; beyond its limit the service refuses some (503)."""
        rows = []
        for keys in (1, 2, 4, 8, 16, 32, 64, 128, 256):
            both = [self.side("memory", MANY, keys) for _ in range(2)]
            rows.append({"keys": keys, "rate": median([one["rate"] for one in both]),
                         "refused": median([one["refused"] for one in both]),
                         "p99_ms": median([one["p99_ms"] for one in both]),
                         "cpu_us": median([one["cpu_us"] for one in both])})
            say(f"  {keys} keys: {rows[-1]['rate']:.0f}/s, p99 {rows[-1]['p99_ms']:.1f} ms")
        self.lab.table("reservations/s by concurrent keys (memory)", rows)


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
                raise RuntimeError(f"not everybody was refused: {one}")
            found[name] = one["rate"]
        if round_ == 0:
            continue
        ratios.append(found["losers"] / found["healthz"])
        for name in rates:
            rates[name].append(found[name])
        if lab.sold(performance) != 1 or waiting.refusal(lab, server, performance) != "ALREADY_RESERVED_SEAT":
            raise RuntimeError("it is not the sold seat for which they were refused")
        say(f"  round {round_}: losers {found['losers']:.0f}/s, healthz {found['healthz']:.0f}/s")
    lab.result("losers/s on a sold seat, over /healthz", ratios, goal=0.60,
               detail=f"{median(rates['losers']):.0f}/s of {median(rates['healthz']):.0f}/s")


SET_SCRIPT = "return redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])"


def script_time(lab):
    """Microseconds that Redis has spent on each EVALSHA since the last time it was asked."""
    found = [line for line in lab.redis("INFO", "commandstats").splitlines() if line.startswith("cmdstat_evalsha:")]
    lab.redis("CONFIG", "RESETSTAT")
    return float(found[0].split("usec_per_call=")[1].split(",")[0]) if found else 0.0


def evalsha(lab, seconds):
    """One connection, one after the other: a script that does no more than any lock must, one write. Its rate, and the
    microseconds of it inside Redis."""
    sha = lab.redis("SCRIPT", "LOAD", SET_SCRIPT)
    script_time(lab)
    rate, count = 0.0, 4_000
    for _ in range(2):  # the first tells how many fit into the time
        text = subprocess.run(["redis-benchmark", "-p", str(lab.redis_port), "-c", "1", "-n", str(count), "--csv", "EVALSHA",
                               sha, "1", "bench:key", "owner", "10000"], check=True, capture_output=True, text=True).stdout
        rate = float(text.splitlines()[-1].split('","')[1].strip('"'))
        count = max(1000, int(rate * seconds))
    return rate, script_time(lab)


def handed_on(lab, storage, waiters, processes, seconds):
    """Hand-offs a second, and the microseconds that one costs our processes and that each script costs Redis."""
    start = time.time() + 2 + waiters / 4000
    lab.epoch += processes
    prefix = f"bench{lab.epoch}"
    running = [subprocess.Popen([str(lab.handoffs), storage, str(lab.redis_port), str(waiters // processes), f"{start:.3f}",
                                 str(seconds), str(lab.epoch + i), prefix],
                                stdout=subprocess.PIPE, text=True) for i in range(processes)]
    grants, cpu = 0, 0.0
    try:
        for process in running:
            text = process.communicate(timeout=120)[0]
            if process.returncode != 0:
                raise RuntimeError("handoffs failed")
            grants += int(text.split()[0])
            cpu += float(text.split()[1])
    finally:
        for process in running:
            process.kill()
    return {"rate": grants / seconds, "cpu_us": cpu * 1e6 / max(grants, 1), "script_us": script_time(lab)}


def handoffs(lab, rounds, seconds):
    kinds = [("redis-fair", 100, 1), ("redis-fair", 10_000, 1), ("redis-fair", 100, 3), ("redis-fair", 10_000, 3),
             ("redis-pubsub", 100, 1), ("redis-pubsub", 100, 3)]
    ratios, found = {kind: [] for kind in kinds}, {kind: [] for kind in kinds}
    yardsticks = []
    for round_ in range(rounds):
        for kind in rotated(kinds, round_):
            # Beside each one its own yardstick: half before, half behind it.
            before = evalsha(lab, seconds / 2)
            found[kind].append(handed_on(lab, *kind, seconds))
            behind = evalsha(lab, seconds / 2)
            yardsticks += [before, behind]
            ratios[kind].append(found[kind][-1]["rate"] * 2 / (before[0] + behind[0]))
        say(f"  round {round_ + 1}: " + ", ".join(f"{s} {w}×{p}: {found[(s, w, p)][-1]['rate']:.0f}/s" for s, w, p in kinds))
    goals = {kinds[0]: 0.80, kinds[2]: 0.35}
    for kind in kinds:
        storage, waiters, processes = kind
        middle = {name: median([one[name] for one in found[kind]]) for name in ("rate", "cpu_us", "script_us")}
        lab.result(f"hand-offs/s, {storage}, {waiters} waiters, {processes} process{'es' if processes > 1 else ''}, over EVALSHA",
                   ratios[kind], goal=goals.get(kind),
                   detail=f"{middle['rate']:.0f}/s of {median([rate for rate, _ in yardsticks]):.0f}/s; CPU {middle['cpu_us']:.0f} µs"
                          f" per hand-off, and inside Redis {middle['script_us']:.0f} µs per script"
                          f" ({median([inside for _, inside in yardsticks]):.0f} of the yardstick)")
    for processes in (1, 3):
        few, many = ("redis-fair", 100, processes), ("redis-fair", 10_000, processes)
        lab.result(f"hand-offs, redis-fair: 10,000 waiters over 100, {processes} process{'es' if processes > 1 else ''}",
                   [b / a for a, b in zip(ratios[few], ratios[many])], goal=0.90 if processes == 1 else None)


def memory(lab, soak_seconds):
    """Idle, with 10,000 requests waiting for one lock, and after a soak."""
    server = lab.server("soak", FESTA_LOCK_STRATEGY="memory", FESTA_LOCK_MAX_WAITERS=20_000, FESTA_LOCK_MAX_WAITERS_PER_KEY=20_000,
                        FESTA_HTTP_MAX_REQUESTS=20_000, FESTA_LOCK_LOCKABLES_ANNOUNCEMENT_PINS_WAIT_MS=60_000)
    idle = memory_mb(server.pid)
    lab.figure("RSS idle", idle, "MB", goal=40)
    per_connection, per_waiter = waiting.cost(lab, server, 10_000)
    lab.figure("RSS per waiting request at 10,000, besides its connection", per_waiter - per_connection, "KiB", goal=8)
    lab.figure("RSS per idle connection at 10,000", per_connection, "KiB")
    if soak_seconds == 0:
        return
    samples = []
    end = time.time() + soak_seconds
    while time.time() < end:
        performance = lab.hall(SEATS)
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
    lab.figure("RSS growth over the last three quarters of the soak", growth, "MB", goal=2,
               detail=f"{soak_seconds} s, {samples[0]:.0f} → {samples[-1]:.0f} MB")


def at_half_capacity(lab, reservations, seconds):
    """p99 of sales that arrive at half of what the service can do."""
    rate = reservations.side("memory", MANY)["rate"] / 2
    found = waiting.paced(lab, reservations.server("memory", MANY), lab.hall(SEATS), rate, seconds)
    lab.figure("p99 of a sale at half of capacity", found["p99"], "ms",
               detail=f"{rate:.0f}/s arrive, p50 {found['p50']:.1f} ms, max {found['max']:.1f} ms;"
                      f" {found['refused']} of {found['asked']} were asked to come back")


PARTS = ("reservations", "losers", "handoffs", "scaling", "half", "memory")


def measure(lab, part, options, reservations):
    if part == "reservations":
        reservations.run(options.rounds, MANY, (0.85, 0.80))
        reservations.run(options.rounds, FEW, (None, None))
    elif part == "losers":
        losers(lab, options.rounds, options.seconds)
    elif part == "handoffs":
        handoffs(lab, options.rounds, options.seconds)
    elif part == "scaling":
        reservations.scaling()
    elif part == "half":
        at_half_capacity(lab, reservations, options.seconds)
    else:
        memory(lab, options.soak)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4, help="of one side in one round")
    parser.add_argument("--soak", type=int, default=600, help="seconds; 0: none")
    parser.add_argument("--only", default=",".join(PARTS), help="of " + ", ".join(PARTS))
    parser.add_argument("--out", type=pathlib.Path, help="folder for bench.md and bench.json")
    options = parser.parse_args()
    only = options.only.split(",")
    for part in only:
        if part not in PARTS:
            parser.error(f"there is no part '{part}'")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with Lab(os.environ) as lab:
        reservations = Reservations(lab, options.seconds) if {"reservations", "scaling", "half"} & set(only) else None
        for part in only:
            say(part)
            measure(lab, part, options, reservations)
            if options.out:
                options.out.mkdir(parents=True, exist_ok=True)
                (options.out / "bench.md").write_text(lab.summary())
                (options.out / "bench.json").write_text(json.dumps(lab.results, indent=1, ensure_ascii=False))
        print("\n" + lab.summary())
        return 0 if lab.all_reached() else 1


if __name__ == "__main__":
    sys.exit(main())
