"""Everything a run needs around the scripts: servers, instances, users and their tokens."""

import json
import os

from .processes import Processes
from .servers import Postgres, RabbitMq, Redis, RedlockNodes
from .service import Fleet, Tools
from .verdict import Judge

POOL = 16
DATABASE = "festabook"


class Lab:
    """Servers on free ports in a folder of their own, and the settings by which festabook finds them; close() ends all of them."""

    def __init__(self, folder, festabook, redlock=False, rabbitmq=False):
        self.processes = Processes(folder)
        self.folder = self.processes.folder
        self.festabook = festabook
        self.postgres = self.redis = self.redlock = self.rabbitmq = None
        try:
            # All at once; RabbitMQ takes longest.
            self.rabbitmq = RabbitMq(self.processes) if rabbitmq else None
            # The benchmark reads whole statements there.
            self.postgres = Postgres(self.processes, DATABASE, ["track_activity_query_size=8192"])
            self.redis = Redis(self.processes)
            self.redlock = RedlockNodes(self.processes) if redlock else None
            for server in self._servers():
                server.ready()
        except BaseException:
            self.close()
            raise

    def close(self):
        self.processes.stop_all()
        if self.postgres:
            self.postgres.remove()

    def _servers(self):
        return [server for server in (self.postgres, self.redis, self.redlock, self.rabbitmq) if server]

    def settings(self, **more):
        """An instance's: where the servers are, and what is given."""
        return {name: value for server in self._servers() for name, value in server.settings().items()} | more

    def tools(self):
        """festabook seed and festabook token, which only a lab has."""
        return Tools(self.festabook, self.processes.environment(self.settings(FESTA_LAB="true", FESTA_DEMO="true")))


class LoadLab(Lab):
    """With fleets of instances, users and their tokens, and a judge."""

    def __init__(self, folder, programs, users, rabbitmq=False, production=False):
        """`production`: three instances with what we recommend for them, and requests that cannot choose."""
        self.programs = programs
        self._production = production
        self._fleet = self._wanted = None
        super().__init__(folder, programs.festabook, redlock=True, rabbitmq=rabbitmq)
        try:
            self.judge = Judge(self.postgres, programs.history_check)
            self.fleet(1)
            self.tokens = self._store_tokens(users)
        except BaseException:
            self.close()
            raise

    def settings(self, **more):
        settings = {"FESTA_LAB": "true", "FESTA_DATABASE_CONNECTIONS": str(POOL)}
        if self._production:
            settings |= {"FESTA_LAB": "false", "FESTA_LOCK_STRATEGY": self.programs.strategies.recommended(3).name,
                         "FESTA_LOCK_INSTANCES": "3", "FESTA_HTTP_DRAIN_DELAY_MS": "1000"}
        return super().settings(**{**settings, **more})

    def fleet(self, count, **settings):
        """Instances with these settings: those that run, or new ones in their place."""
        wanted = (count, settings)
        if self._wanted != wanted:
            self.stop_fleet()
            self._fleet = Fleet(self.processes, self.festabook, count, self.settings(**settings))
            self._wanted = wanted
        return self._fleet

    def stop_fleet(self):
        if self._fleet:
            self._fleet.stop()
        self._fleet = self._wanted = None

    def redis_info(self):
        return [server.command("INFO", "commandstats") for server in (self.redis, *self.redlock.nodes)]

    def _store_tokens(self, users):
        file = self.folder / "tokens.json"
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as output:
            json.dump(self.tools().tokens(users), output)
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
