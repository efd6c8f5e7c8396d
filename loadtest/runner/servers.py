"""The servers around the service: PostgreSQL, Redis, Redlock's nodes, RabbitMQ. All on 127.0.0.1, all private."""

import json
import os
import signal
import socket
import subprocess

from .processes import SERVER, Server


class Postgres(Server):
    """With one database. fsync and synchronous_commit are on: what is measured is what production would do."""

    def __init__(self, processes, database, settings=()):
        self.database = database
        options = [word for setting in settings for word in ("--set", setting)]
        super().__init__(processes, "postgres", "postgres", "--database", database, *options)

    def remove(self):
        """Its data, too."""
        self.stop(signal.SIGQUIT)
        subprocess.run([SERVER, "postgres", self._folder, "--log", os.devnull, "--remove"], stdout=subprocess.DEVNULL, check=True)

    def libpq(self):
        """Arguments of PostgreSQL's own programs."""
        return ["-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", self.database]

    def libpq_environment(self):
        return {**os.environ, "PGPASSWORD": self.words["FESTA_DATABASE_PASSWORD"]}

    def run(self, text):
        done = subprocess.run(["psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-f", "-", *self.libpq()],
                              input=text, capture_output=True, text=True, env=self.libpq_environment())
        if done.returncode:
            raise RuntimeError(f"psql: {done.stderr.strip()}")
        return done.stdout

    def rows_of(self, queries, ids=()):
        """The rows of several queries as lists of dictionaries, in one go; $1 in them is the array of ids."""
        numbers = ",".join(str(int(number)) for number in ids)
        text = "".join(
            f"PREPARE query{n}(bigint[]) AS SELECT coalesce(jsonb_agg(found), '[]') FROM ({query}) AS found;\n"
            f"EXECUTE query{n}('{{{numbers}}}');\n" for n, query in enumerate(queries))
        return [json.loads(line) for line in self.run(text).splitlines()]

    def rows(self, query, ids=()):
        return self.rows_of([query], ids)[0]


class Redis(Server):
    """Without persistence: one that restarts has forgotten everything."""

    def __init__(self, processes, name="redis", *options):
        super().__init__(processes, "redis", name, *options)

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
    def __init__(self, processes, count=5):
        self.nodes = [Redis(processes, f"redlock{number}", "--may-vote", "festabook") for number in range(count)]

    def ready(self):
        for node in self.nodes:
            node.ready()
        return self

    def settings(self):
        nodes = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        # All of them share this machine with everything else: they may be slow.
        return {"FESTA_REDLOCK_NODES": nodes, "FESTA_REDLOCK_TIMEOUT_MS": "500"}


class RabbitMq(Server):
    """What its queues hold is there again after a restart."""

    def __init__(self, processes):
        super().__init__(processes, "rabbitmq", "rabbitmq")
