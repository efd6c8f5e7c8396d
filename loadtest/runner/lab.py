"""Everything a run needs around the scripts: servers, instances, users and their tokens."""

import json
import os
import pathlib

from .processes import Processes
from .servers import Postgres, RabbitMq, Redis, RedlockNodes
from .service import Fleet, Tools
from .verdict import Judge

POOL = 16
DATABASE = "festabook"


class Lab:
    """Servers on free ports in a folder of their own; close() ends all of them."""

    def __init__(self, folder, programs, users, rabbitmq=False, production=False):
        """`production`: three instances with what we recommend for them, and requests that cannot choose."""
        self.folder = pathlib.Path(folder)
        self.programs = programs
        self.processes = Processes(self.folder)
        self._production = production
        self._fleet = None
        self._wanted = None
        self.postgres = None
        try:
            self._start(users, rabbitmq)
        except BaseException:
            self.close()
            raise

    def _start(self, users, rabbitmq):
        # It takes longest; nobody needs it before the first fleet.
        self.rabbitmq = RabbitMq(self.processes, self.folder) if rabbitmq else None
        self.postgres = Postgres(self.processes, self.folder)
        self.redis = Redis(self.processes, self.folder, "redis")
        self.redlock = RedlockNodes(self.processes, self.folder)
        self.postgres.create(DATABASE)
        self.judge = Judge(self.postgres, DATABASE, self.programs.history_check)
        if self.rabbitmq:
            self.rabbitmq.ready()
        self.fleet(1)
        self.tokens = self._store_tokens(users)

    def close(self):
        self.processes.stop_all()
        if self.postgres:
            self.postgres.remove()

    def settings(self, **more):
        settings = {
            **self.postgres.settings(DATABASE), "FESTA_DEMO": "true", "FESTA_LAB": "true",
            "FESTA_DATABASE_CONNECTIONS": str(POOL),
            "FESTA_REDIS_HOST": "127.0.0.1", "FESTA_REDIS_PORT": str(self.redis.port),
            "FESTA_REDLOCK_NODES": self.redlock.addresses(),
            # All five share this machine with everything else: they may be slow.
            "FESTA_REDLOCK_TIMEOUT_MS": "500", "FESTA_HTTP_DRAIN_DELAY_MS": "0"}
        if self._production:
            settings |= {"FESTA_LAB": "false", "FESTA_LOCK_STRATEGY": "redis-pubsub", "FESTA_LOCK_INSTANCES": "3",
                         "FESTA_HTTP_DRAIN_DELAY_MS": "1000"}
        if self.rabbitmq:
            settings |= {"FESTA_RABBITMQ_HOST": "127.0.0.1", "FESTA_RABBITMQ_PORT": str(self.rabbitmq.port)}
        return {**settings, **more}

    def fleet(self, count, **settings):
        """Instances with these settings: those that run, or new ones in their place."""
        wanted = (count, settings)
        if self._wanted != wanted:
            self.stop_fleet()
            self._fleet = Fleet(self.processes, self.programs.festabook, count, self.settings(**settings))
            self._wanted = wanted
        return self._fleet

    def is_cold(self, count):
        """No instances in that number have served yet."""
        return self._wanted is None or self._wanted[0] != count or not self._fleet.has_served

    def stop_fleet(self):
        if self._fleet:
            self._fleet.stop()
        self._fleet = self._wanted = None

    def redis_info(self):
        return [server.command("INFO", "commandstats") for server in (self.redis, *self.redlock.nodes)]

    def _store_tokens(self, users):
        tools = Tools(self.programs.festabook, self.processes.environment(self.settings(FESTA_LAB="true")))
        file = self.folder / "tokens.json"
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as output:
            json.dump(tools.tokens(users), output)
        return file


class Logs:
    """What the instances of a fleet have written since this was made."""

    def __init__(self, fleet):
        self._from = {instance.log: instance.log.stat().st_size for instance in fleet.instances}

    def text(self):
        parts = []
        for file, start in self._from.items():
            with open(file, errors="replace") as log:
                log.seek(start)
                parts.append(log.read())
        return "".join(parts)
