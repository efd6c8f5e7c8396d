"""Free seats sold per second, over pgbench with the very statements of the service."""
import contextlib
import functools
import os
import subprocess

from loadtest.bench.figures import say
from loadtest.bench.load import median, rotated, wrk
from loadtest.bench.stand import BUYERS, cpu_seconds, milliseconds_in

CONNECTIONS = 32    # to PostgreSQL, for the service and for pgbench
IN_FLIGHT = 192     # enough for full batches while others take their locks or are answered
NOT_SHARED = 96     # in flight where each has a connection; the service refuses more than 128 then
SEATS = 120_000     # of one hall that the service sells by batches
SEATS_ONE_BY_ONE = 60_000  # where each sale is a commit of its own
SEATS_LONE = 15_000        # where one request follows the other
HALF_SECONDS = 12   # at half of capacity
BATCH = 32          # seats per statement of the second yardstick
TIME_FORMAT = 'YYYY-MM-DD"T"HH24:MI:SS.US'
# As the service's own client for batches has it.
BATCH_OPTIONS = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off"
# Over pgbench, of locks inside the process and across processes.
GOALS = {"process": 2.0, "processes": 1.7}


class Stall:
    def __init__(self, lab, seconds):
        self.lab, self.seconds = lab, seconds

    @functools.cached_property
    def scripts(self):
        return {1: self.single_script(), BATCH: self.batch_script()}

    def server(self, strategy, **settings):
        name = "-".join([strategy, *map(str, settings.values())])
        return self.lab.server(name, FESTA_LOCK_STRATEGY=strategy, FESTA_DATABASE_CONNECTIONS=CONNECTIONS, **settings)

    def sold_by(self, beginning, **settings):
        """The statement as PostgreSQL received it from the service, so that a change of it is never forgotten here."""
        wrk(self.server("memory", **settings), 1, 1, "reserve.lua", self.lab.hall(20_000), self.lab.buyers, 1)
        sql = self.lab.query("SELECT query FROM pg_stat_activity WHERE application_name LIKE 'festabook%'"
                             f" AND query LIKE '{beginning}%' AND query LIKE '%reservations%' LIMIT 1")
        if not sql:
            raise RuntimeError(f"the service has not sent a statement that begins with {beginning}")
        return sql.replace(f"'{TIME_FORMAT}'", ":format")  # pgbench would take its colons for variables

    def script(self, name, sql, batch):
        path = self.lab.folder / name
        # As many buyers as the service has: a sale also looks at its buyer's row.
        path.write_text(f"\\set i :i + 1\n\\set number (:i * :clients + :client_id) * {batch} + 1\n"
                        f"\\set user :first + :number % {BUYERS}\n" + sql + ";\n")
        return path

    def single_script(self):
        sql = self.sold_by("WITH seat AS", FESTA_DATABASE_BATCH_MEMBERS=1)
        for number, name in enumerate(("performance", "location", "number", "user", "fence"), start=1):
            sql = sql.replace(f"${number}", f":{name}")
        return self.script("one.sql", sql, 1)

    def batch_script(self):
        sql = self.sold_by("WITH m AS")
        numbers = f"generate_series(:number::int, :number::int + {BATCH - 1}) n"
        for number, array in enumerate((f"array_fill(:performance::bigint, ARRAY[{BATCH}])",
                                        f"array_fill(:location::text, ARRAY[{BATCH}])",
                                        f"(SELECT array_agg(n::int) FROM {numbers})",
                                        f"(SELECT array_agg(:first::bigint + n % {BUYERS}) FROM {numbers})",
                                        f"array_fill(:fence::bigint, ARRAY[{BATCH}])"), start=1):
            sql = sql.replace(f"${number}::", f"{array}::")
        return self.script("batch.sql", sql, BATCH)

    def pgbench(self, batch=1, connections=CONNECTIONS, seats=SEATS_ONE_BY_ONE):
        """What is left of a hall does not matter; one that is sold out would be a wrong rate."""
        performance = self.lab.hall(seats)
        variables = {"i": -1, "clients": connections, "performance": performance, "location": "A",
                     "first": self.lab.first_buyer, "fence": 1, "format": TIME_FORMAT}
        command = ["pgbench", "-n", "-M", "prepared", "-c", str(connections), "-j", str(min(2, connections)),
                   "-T", str(self.seconds), "-f", str(self.scripts[batch]), *self.lab.postgres.libpq()]
        for name, value in variables.items():
            command += ["-D", f"{name}={value}"]
        environment = dict(self.lab.postgres.libpq_environment() or os.environ)
        if batch > 1:
            environment["PGOPTIONS"] = BATCH_OPTIONS
        before = self.lab.postgres_cpu_seconds()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, text=True, env=environment)
        sold = self.lab.sold(performance)
        if sold in (0, seats):
            raise RuntimeError(f"pgbench has sold {sold} seats of {seats}")
        return {"rate": sold / self.seconds, "postgres_us": (self.lab.postgres_cpu_seconds() - before) * 1e6 / sold}

    def side(self, server, in_flight=IN_FLIGHT, keyed=False, seats=SEATS, during=contextlib.nullcontext):
        """`during(performance)` is a context that lasts while the hall is sold."""
        performance = self.lab.hall(seats)
        with during(performance):
            before, postgres_before = cpu_seconds(server.pid), self.lab.postgres_cpu_seconds()
            found = wrk(server, self.seconds, in_flight, "reserve.lua", performance, self.lab.buyers, 1, *(["keyed"] if keyed else []))
            cpu, postgres = cpu_seconds(server.pid) - before, self.lab.postgres_cpu_seconds() - postgres_before
        sold = self.lab.sold(performance)
        return {"rate": sold / self.seconds, "refused": found["others"] / self.seconds, "cpu_us": cpu * 1e6 / sold,
                "postgres_us": postgres * 1e6 / sold, "p50_ms": found["p50"], "p99_ms": found["p99"]}

    def compare(self, rounds, sides):
        """What each side found in each round, in turns. The first round warms up and does not count."""
        found = {name: [] for name in sides}
        for round_ in range(rounds + 1):
            for name in rotated(list(sides), round_):
                one = sides[name]()
                if one.get("refused", 0) > 0:
                    raise RuntimeError(f"not all answers of {name} were sales: {one}")
                if round_ > 0:
                    found[name].append(one)
            if round_ > 0:
                say(f"  round {round_}: " + ", ".join(f"{name} {all_[-1]['rate']:.0f}/s" for name, all_ in found.items()))
        return found

    def tell(self, text, found, name, yardstick, goal):
        ratios = [one["rate"] / other["rate"] for one, other in zip(found[name], found[yardstick])]
        middle = {key: median([one[key] for one in found[name]]) for key in ("rate", "cpu_us", "postgres_us", "p99_ms")}
        self.lab.figures.result(text, ratios, goal=goal,
                                detail=f"{middle['rate']:.0f}/s of {median([one['rate'] for one in found[yardstick]]):.0f}/s;"
                                       f" server CPU {middle['cpu_us']:.0f} µs per sale, PostgreSQL's {middle['postgres_us']:.0f};"
                                       f" p99 {middle['p99_ms']:.1f} ms")

    def run(self, rounds):
        one, many = "pgbench one by one", f"pgbench in batches of {BATCH}"
        sides = {one: self.pgbench, many: lambda: self.pgbench(BATCH, 8, 2 * SEATS)}
        # Those with a line for a hot key.
        lines = [one for one in self.lab.strategies if one.kind == "lock" and one.order != "none"]
        for strategy in (one.name for one in lines):
            sides[strategy] = lambda strategy=strategy: self.side(self.server(strategy))
        sides["memory, not shared"] = lambda: self.side(self.server("memory", FESTA_DATABASE_BATCH_MEMBERS=1), NOT_SHARED,
                                                        seats=SEATS_ONE_BY_ONE)
        found = self.compare(rounds, sides)
        for line in lines:
            self.tell(f"sales/s, {line.name}, over {one}", found, line.name, one, GOALS[line.scope])
        self.tell(f"sales/s, memory, transactions not shared, over {one}", found, "memory, not shared", one, None)
        self.lab.figures.result(f"sales/s, {many}, over {one}",
                                [a["rate"] / b["rate"] for a, b in zip(found[many], found[one])],
                                detail=f"{median([a['rate'] for a in found[many]]):.0f}/s: the limit")
        self.lab.figures.figure("service CPU per sale at saturation, memory", median([a["cpu_us"] for a in found["memory"]]),
                                "µs", goal=65)

    def run_keyed(self, rounds):
        one = "pgbench one by one"
        found = self.compare(rounds, {one: self.pgbench, "keyed": lambda: self.side(self.server("memory"), keyed=True)})
        self.tell(f"sales/s with an Idempotency-Key each, memory, over {one}", found, "keyed", one, 1.2)

    def lone(self, rounds):
        """One request after the other, on an idle service: the time of one, over that of pgbench with one client."""
        found = self.compare(rounds, {"pgbench": lambda: self.pgbench(1, 1, SEATS_LONE),
                                      "memory": lambda: self.side(self.server("memory"), 1, seats=SEATS_LONE)})
        ratios = [other["rate"] / one["rate"] for one, other in zip(found["memory"], found["pgbench"])]
        self.lab.figures.figure("time of a lone sale, over pgbench with one client", median(ratios), "times", goal=2.0,
                                detail=f"{1000 / median([one['rate'] for one in found['memory']]):.2f} ms")

    def at_half_capacity(self):
        """Sales that arrive at random at half of the rate that the service can do, for some seconds."""
        server = self.server("memory")
        rate = self.side(server)["rate"] / 2
        think = IN_FLIGHT / rate * 1000
        wrk(server, 3, IN_FLIGHT, "reserve.lua", self.lab.hall(SEATS), self.lab.buyers, 1, "paced", think)  # warm sockets and plans
        performance, before = self.lab.hall(2 * HALF_SECONDS * SEATS // 8), server.metrics()
        found = wrk(server, HALF_SECONDS, IN_FLIGHT, "reserve.lua", performance, self.lab.buyers, 1, "paced", think)
        inside = milliseconds_in(before, server.metrics(), "festa_http_request_seconds", (0.5, 0.99))
        sold = self.lab.sold(performance) / HALF_SECONDS
        for name, goal in (("p50", 3), ("p99", 12)):
            self.lab.figures.figure(f"{name} of a sale at half of capacity", found[name], "ms", goal=goal,
                                    detail=f"{sold:.0f}/s; in the service's own histogram ≤ {inside[name]:.1f} ms")

    def scaling(self):
        """This many requests in flight, each with its own seat; beyond its limit the service refuses some (503)."""
        rows = []
        for keys in (1, 4, 16, 64, 256):
            one = self.side(self.server("memory"), keys)
            rows.append({"keys": keys, **{name: one[name] for name in ("rate", "refused", "p99_ms", "cpu_us")}})
            say(f"  {keys} keys: {one['rate']:.0f}/s, p99 {one['p99_ms']:.1f} ms")
        self.lab.figures.table("sales/s by concurrent keys (memory)", rows)
