"""The lab with what the benchmark needs besides: named instances, buyers, halls, processor time."""
import os
import pathlib
import time

from loadtest.runner import strategies
from loadtest.runner.lab import Lab
from loadtest.runner.sampling import usage
from loadtest.runner.service import Instance, id_in

BUYERS = 64


def cpu_seconds(pid):
    return usage(pid)[1] / 1000


def memory_mb(pid):
    return usage(pid)[0]


def family_cpu_seconds(pid):
    """Of a process, its children, and those of them that have ended."""
    total = 0
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if path.parent.name == str(pid):
            total += sum(int(field) for field in fields[11:15])
        elif fields[1] == str(pid):
            total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def buckets_in(text, name):
    """Counts by upper bound of a histogram, over all its labels."""
    found = {}
    for line in text.splitlines():
        if line.startswith(name + "_bucket{"):
            bound = float(line.split('le="')[1].split('"')[0].replace("+Inf", "inf"))
            found[bound] = found.get(bound, 0.0) + float(line.rsplit(" ", 1)[1])
    return found


def milliseconds_in(before, after, name, shares):
    """The bounds below which such shares of what was observed between two readings lie, e.g. {"p99": 12.0}."""
    earlier, counts = buckets_in(before, name), buckets_in(after, name)
    grown = {bound: count - earlier.get(bound, 0.0) for bound, count in sorted(counts.items())}
    total = max(grown.values(), default=0.0)
    found = {}
    for share in shares:
        bounds = [bound for bound, count in grown.items() if count >= share * total]
        found[f"p{share * 100:.0f}"] = min(bounds, default=float("inf")) * 1000
    return found


class Stand(Lab):
    def __init__(self, folder, festabook, handoffs, figures, table=None):
        """`table`: the binary that knows the strategies, if `festabook` is too old to."""
        self.handoffs = handoffs
        self.figures = figures
        self.strategies = strategies.read(table or festabook)
        self.epoch = int(time.time() - 1_700_000_000)
        self._instances = {}
        super().__init__(folder, festabook)

    def __enter__(self):
        try:
            # The first start brings the schema.
            self.server("memory", FESTA_LOCK_STRATEGY="memory")
            self._store_buyers()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def _store_buyers(self):
        self.tools().run("seed", "--users", str(BUYERS))
        tokens = self.tokens(*(f"user{number}" for number in range(1, BUYERS + 1)))
        ids = [id_in(token) for token in tokens]
        self.first_buyer = ids[0]
        if ids != list(range(self.first_buyer, self.first_buyer + BUYERS)):
            raise RuntimeError("the buyers' ids have gaps")
        self.buyers = self.folder / "buyers"
        self.buyers.unlink(missing_ok=True)
        with open(os.open(self.buyers, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write("".join(f"{number} {token}\n" for number, token in zip(ids, tokens)))

    def postgres_cpu_seconds(self):
        return family_cpu_seconds(self.postgres.pid)

    def tokens(self, *names):
        return self.tools().run("token", *names).split()

    def server(self, name, **settings):
        """The instance of that name, which runs to the end."""
        if name not in self._instances:
            self._instances[name] = Instance(self.processes, name, self.festabook, self.settings(**settings)).ready()
        return self._instances[name]

    def query(self, sql):
        return self.postgres.run(sql).strip()

    def hall(self, seats):
        """A new performance with so many free seats, all in A."""
        self.query("INSERT INTO places (id, name, location, max_seat) VALUES (1, 'hall', 'here', 50000) ON CONFLICT DO NOTHING")
        performance = self.query(
            "INSERT INTO performances (place_id, category, start_at, end_at, start_reservation_at, end_reservation_at, title,"
            " content, acting, film_rating, price) VALUES (1, 'CONCERT', now() + interval '1 day', now() + interval '2 days',"
            " now() - interval '1 hour', now() + interval '1 day', 'bench', '', '', 'ALL', 0) RETURNING id")
        self.query(f"INSERT INTO seats (performance_id, location, number) SELECT {performance}, 'A', n"
                   f" FROM generate_series(1, {seats}) n")
        self.query("VACUUM ANALYZE seats")
        # What one side has written is not written out in the other's time.
        self.query("CHECKPOINT")
        return int(performance)

    def sold(self, performance):
        return int(self.query(f"SELECT count(*) FROM reservations WHERE performance_id = {performance}"))
