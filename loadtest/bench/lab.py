"""The servers that ./dev bench has started, instances of the service, and what was measured."""
import datetime
import os
import pathlib
import platform
import socket
import statistics
import subprocess
import time
import urllib.error
import urllib.request

BUYERS = 64


def say(text):
    print(text, flush=True)


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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


def memory_mb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no such process")


def free_port(first):
    for port in range(first, first + 1000):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise RuntimeError("no free port")


class Server:
    """One instance, until the lab ends."""

    def __init__(self, binary, environment, port, log):
        self.url, self.port = f"http://127.0.0.1:{port}", port
        with open(log, "wb") as output:
            self.process = subprocess.Popen([binary], env=environment, stdout=output, stderr=output)
        self.pid, self.log = self.process.pid, log

    def wait_until_ready(self):
        deadline = time.time() + 60
        while True:
            try:
                with urllib.request.urlopen(self.url + "/readyz", timeout=2):
                    return
            except (urllib.error.URLError, OSError):
                if self.process.poll() is not None or time.time() > deadline:
                    raise RuntimeError(f"festabook did not start; its log: {self.log}") from None
                time.sleep(0.05)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Lab:
    def __init__(self, environment):
        self.folder = pathlib.Path(environment["BENCH_FOLDER"])
        self.binary = environment["BENCH_BINARY"]
        self.handoffs = pathlib.Path(environment["BENCH_HANDOFFS"])
        self.pg_port, self.pg_password = environment["BENCH_PG_PORT"], environment["BENCH_PG_PASSWORD"]
        self.redis_port = environment["BENCH_REDIS_PORT"]
        self.commit = environment.get("BENCH_COMMIT", "")
        self.environment = {"PATH": environment["PATH"], "FESTA_DATABASE_PORT": self.pg_port,
                            "FESTA_DATABASE_NAME": "festabook_bench", "FESTA_DATABASE_PASSWORD": self.pg_password,
                            "FESTA_REDIS_HOST": "127.0.0.1", "FESTA_REDIS_PORT": self.redis_port,
                            "FESTA_AUTH_JWT_SECRET": os.urandom(24).hex(), "FESTA_HTTP_DRAIN_DELAY_MS": "0", "FESTA_DEMO": "true"}
        self.servers = {}
        self.results = {"commit": self.commit, "date": datetime.date.today().isoformat(),
                        "machine": f"{os.cpu_count()} cores, {platform.release()}", "ratios": [], "figures": [], "tables": []}
        self.epoch = int(time.time() - 1_700_000_000)
        self.next_port = int(environment["BENCH_FIRST_PORT"])

    def __enter__(self):
        try:
            self.prepare()
        except BaseException:
            self.__exit__()
            raise
        return self

    def prepare(self):
        # The first start brings the schema.
        self.server("memory", FESTA_LOCK_STRATEGY="memory")
        subprocess.run([self.binary, "seed", "--users", str(BUYERS)], env=self.tools(), check=True, capture_output=True)
        names = [f"user{i}" for i in range(1, BUYERS + 1)]
        tokens = self.tokens(*names)
        ids = self.query("SELECT id FROM users WHERE login IN (" + ",".join(f"'{n}'" for n in names) +
                         ") ORDER BY array_position(ARRAY[" + ",".join(f"'{n}'" for n in names) + "], login)").split()
        self.first_buyer = int(ids[0])
        if [int(i) for i in ids] != list(range(self.first_buyer, self.first_buyer + BUYERS)):
            raise RuntimeError("the buyers' ids have gaps")
        self.buyers = self.folder / "buyers"
        self.buyers.unlink(missing_ok=True)
        with open(os.open(self.buyers, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write("".join(f"{i} {t}\n" for i, t in zip(ids, tokens)))

    def postgres_cpu_seconds(self):
        one = self.query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'").strip()
        postmaster = pathlib.Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()[1]
        return family_cpu_seconds(postmaster)

    def __exit__(self, *_):
        for server in self.servers.values():
            server.stop()

    def tools(self):
        return {**self.environment, "FESTA_LAB": "true"}

    def tokens(self, *names):
        return subprocess.run([self.binary, "token", *names], env=self.tools(), check=True, capture_output=True,
                              text=True).stdout.split()

    def server(self, name, **settings):
        if name not in self.servers:
            self.next_port = free_port(self.next_port + 1)
            environment = {**self.environment, "FESTA_HTTP_PORT": str(self.next_port),
                           **{key: str(value) for key, value in settings.items()}}
            self.servers[name] = Server(self.binary, environment, self.next_port, self.folder / f"{name}.log")
            self.servers[name].wait_until_ready()
        return self.servers[name]

    def libpq(self):
        return ["-h", "127.0.0.1", "-p", self.pg_port, "-U", "postgres", "festabook_bench"]

    def libpq_environment(self):
        return {**os.environ, "PGPASSWORD": self.pg_password}

    def query(self, sql):
        return subprocess.run(["psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-c", sql, *self.libpq()], check=True,
                              capture_output=True, text=True, env=self.libpq_environment()).stdout.strip()

    def redis(self, *words):
        return subprocess.run(["redis-cli", "-p", self.redis_port, *words], check=True, capture_output=True,
                              text=True).stdout.strip()

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

    def result(self, name, ratios, goal=None, detail=""):
        middle = statistics.median(ratios)
        self.results["ratios"].append({"name": name, "ratio": round(middle, 3), "rounds": [round(r, 3) for r in ratios],
                                       "goal": goal, "reached": goal is None or middle >= goal, "detail": detail})
        say(f"  = {name}: {middle:.2f}" + (f" (goal {goal:.2f})" if goal else "") + (f"; {detail}" if detail else ""))

    def figure(self, name, value, unit, goal=None, detail=""):
        self.results["figures"].append({"name": name, "value": round(value, 2), "unit": unit, "goal": goal,
                                        "reached": goal is None or value < goal, "detail": detail})
        say(f"  = {name}: {value:.2f} {unit}" + (f" (goal < {goal})" if goal else "") + (f"; {detail}" if detail else ""))

    def table(self, name, rows):
        self.results["tables"].append({"name": name, "rows": rows})

    def all_reached(self):
        return all(one["reached"] for one in self.results["ratios"] + self.results["figures"])

    def summary(self):
        lines = [f"festabook {self.commit or 'of this folder'}, {self.results['date']}, {self.results['machine']}.", "",
                 "| ratio | median | rounds | goal | |", "|---|---|---|---|---|"]
        mark = {True: "", False: "**missed**"}
        for one in self.results["ratios"]:
            goal = f"≥ {one['goal']:.2f} {mark[one['reached']]}".strip() if one["goal"] else "–"
            lines.append(f"| {one['name']} | {one['ratio']:.2f} | {min(one['rounds']):.2f}–{max(one['rounds']):.2f} | {goal}"
                         f" | {one['detail']} |")
        if self.results["figures"]:
            lines += ["", "| figure | value | goal | |", "|---|---|---|---|"]
        for one in self.results["figures"]:
            goal = f"< {one['goal']} {mark[one['reached']]}".strip() if one["goal"] else "–"
            lines.append(f"| {one['name']} | {one['value']} {one['unit']} | {goal} | {one['detail']} |")
        for table in self.results["tables"]:
            names = list(table["rows"][0])
            lines += ["", table["name"], "", "| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
            lines += ["| " + " | ".join(f"{row[n]:.1f}" if isinstance(row[n], float) else str(row[n]) for n in names) + " |"
                      for row in table["rows"]]
        return "\n".join(lines) + "\n"
