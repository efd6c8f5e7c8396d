"""The servers around the service: PostgreSQL, Redis, Redlock's nodes, RabbitMQ. All on 127.0.0.1, all private."""

import contextlib
import hashlib
import json
import os
import pathlib
import pwd
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile

from .processes import StartError, free_port, listens, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]


def postgres_tools():
    """The folder of the newest PostgreSQL's programs."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[4]))
    if not found:
        raise StartError("PostgreSQL is not installed; ./dev loadtest installs it")
    return found[-1].parent


def make_own(folder, owner):
    """A folder where everybody may make one: whoever was first may have had this name in mind."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner:
        raise StartError(f"{folder} is there, and is not a folder of user {owner}")


def give(path, user):
    entry = pwd.getpwnam(user)
    os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)


class Postgres:
    """fsync and synchronous_commit are on: what is measured is what production would do."""

    def __init__(self, processes, folder, settings=()):
        self.port = free_port()
        self.process = None
        self._processes = processes
        self._settings = list(settings)
        self._password = secrets.token_hex(16)
        # PostgreSQL refuses to run as root.
        self._user = "postgres" if os.getuid() == 0 else None
        # In the run's folder, or elsewhere when the postgres user cannot reach that.
        self._folder = pathlib.Path(folder)
        self._data = self._reachable(self._folder) / "postgres"
        self._make()
        self.start()

    def _reachable(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        if self._user and subprocess.run(["test", "-x", folder], user=self._user).returncode:
            folder = pathlib.Path("/var/tmp") / f"festabook-{hashlib.sha256(bytes(folder)).hexdigest()[:12]}"
            make_own(folder, owner=0)
        return folder

    def _make(self):
        shutil.rmtree(self._data, ignore_errors=True)
        self._data.mkdir()
        if self._user:
            give(self._data, self._user)
        with tempfile.NamedTemporaryFile("w") as password:
            password.write(self._password)
            password.flush()
            if self._user:
                give(password.name, self._user)
            made = subprocess.run(
                [postgres_tools() / "initdb", "-D", self._data, "-U", "postgres", "-A", "scram-sha-256",
                 f"--pwfile={password.name}", "-E", "UTF8", "--locale=C", "--no-instructions", "--no-sync"],
                user=self._user, capture_output=True, text=True, cwd="/")
        if made.returncode:
            raise StartError(f"initdb failed: {made.stderr}")

    def start(self):
        settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=400", "lc_messages=C",
                    *self._settings]
        options = [word for setting in settings for word in ("-c", setting)]
        self.process = self._processes.start(
            "postgres", [postgres_tools() / "postgres", "-D", self._data, "-p", self.port, *options], user=self._user)
        wait_until(lambda: self._psql("postgres", "SELECT 1", check=False).returncode == 0,
                   f"PostgreSQL does not answer (log: {self.process.log})", alive=self.process.runs)

    def stop(self, number=signal.SIGINT):
        """SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one."""
        self.process.stop(number)

    def remove(self):
        if self.process and self.process.runs():
            self.stop(signal.SIGQUIT)
        shutil.rmtree(self._data, ignore_errors=True)
        if self._data.parent != self._folder:
            self._data.parent.rmdir()

    def _psql(self, database, text, check=True):
        done = subprocess.run(
            ["psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port), "-U",
             "postgres", "-d", database, "-f", "-"],
            input=text, capture_output=True, text=True, env={**os.environ, "PGPASSWORD": self._password})
        if check and done.returncode:
            raise RuntimeError(f"psql: {done.stderr.strip()}")
        return done

    def run(self, database, text):
        return self._psql(database, text).stdout

    def rows_of(self, database, queries, ids=()):
        """The rows of several queries as lists of dictionaries, in one go; $1 in them is the array of ids."""
        numbers = ",".join(str(int(number)) for number in ids)
        text = "".join(
            f"PREPARE query{n}(bigint[]) AS SELECT coalesce(jsonb_agg(found), '[]') FROM ({query}) AS found;\n"
            f"EXECUTE query{n}('{{{numbers}}}');\n" for n, query in enumerate(queries))
        return [json.loads(line) for line in self.run(database, text).splitlines()]

    def rows(self, database, query, ids=()):
        return self.rows_of(database, [query], ids)[0]

    def create(self, database):
        if not self.rows("postgres", "SELECT 1 FROM pg_roles WHERE rolname = 'festabook'"):
            self.run("postgres", f"CREATE ROLE festabook LOGIN PASSWORD '{self._password}'")
        self.run("postgres", f"CREATE DATABASE {database} OWNER festabook")

    def settings(self, database):
        return {"FESTA_DATABASE_PORT": str(self.port), "FESTA_DATABASE_NAME": database,
                "FESTA_DATABASE_PASSWORD": self._password}


class Redis:
    """Without persistence: one that restarts has forgotten everything."""

    def __init__(self, processes, folder, name):
        self.port = free_port()
        self.name = name
        self._processes = processes
        self._folder = pathlib.Path(folder) / name
        self._folder.mkdir(parents=True, exist_ok=True)
        self.start()

    def start(self):
        self.process = self._processes.start(
            self.name, ["redis-server", "--port", self.port, "--bind", "127.0.0.1", "--dir", self._folder, "--save", "",
                        "--appendonly", "no", "--maxmemory-policy", "noeviction"])
        wait_until(lambda: listens(self.port), f"Redis does not listen (log: {self.process.log})",
                   alive=self.process.runs)

    def command(self, *words):
        """The answer of a command as text; of an array its elements by lines."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            sent = b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in (str(w).encode() for w in words))
            connection.sendall(b"*%d\r\n" % len(words) + sent)
            return "\n".join(_reply(connection.makefile("rb")))


def _reply(stream):
    line = stream.readline().rstrip(b"\r\n").decode()
    kind, rest = line[:1], line[1:]
    if kind == "-":
        raise RuntimeError(f"Redis: {rest}")
    if kind == "$":
        size = int(rest)
        return [stream.read(size + 2)[:-2].decode(errors="replace")] if size >= 0 else [""]
    if kind == "*":
        return [text for _ in range(int(rest)) for text in _reply(stream)]
    return [rest]


class RedlockNodes:
    def __init__(self, processes, folder, count=5):
        self.nodes = [Redis(processes, folder, f"redlock{number}") for number in range(count)]
        for node in self.nodes:
            # They may vote at once: nobody can hold anything that they forgot.
            node.command("SET", "festabook:redlock:ready", 1)

    def addresses(self):
        return ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)


class RabbitMq:
    """What its queues hold stays in its folder and is there again after a restart."""

    def __init__(self, processes, folder):
        self._processes = processes
        self._folder = pathlib.Path(folder) / "rabbitmq"
        shutil.rmtree(self._folder, ignore_errors=True)
        self.port, self._distribution, self._names = free_port(), free_port(), free_port()
        # One that the broker starts itself would outlive it.
        processes.start("epmd", ["epmd", "-port", self._names, "-address", "127.0.0.1"])
        wait_until(lambda: listens(self._names), "epmd does not listen")
        self.launch()

    def launch(self):
        self.process = self._processes.start(
            "rabbitmq", [ROOT / "scripts" / "rabbitmq-broker.sh", self._folder, self.port, self._distribution,
                         self._names])

    def ready(self):
        wait_until(lambda: listens(self.port), f"RabbitMQ does not listen (log: {self.process.log})",
                   alive=self.process.runs)

    def stop(self, number=signal.SIGTERM):
        self.process.stop(number)
