"""The strategies of the service, from its own table (`festabook strategies --json`)."""

import dataclasses
import json
import subprocess


@dataclasses.dataclass(frozen=True)
class Strategy:
    place: int  # in the table
    name: str
    kind: str  # none, lock, guard or queue
    needs: str  # redis, redlock, rabbitmq; empty: nothing
    scope: str  # process or processes
    order: str  # none, process or overall
    lab_only: bool  # known not to protect
    refuses_stale_updates: bool  # and yet a row that has changed since it was read is not updated
    recommended: bool  # the lock to begin with, among those of its scope

    def is_queue(self):
        return self.kind == "queue"

    def reaches(self, instances):
        """Its writers exclude each other on so many instances."""
        return instances == 1 or self.scope == "processes"

    def keeps_order(self, instances):
        """All waiters of so many instances are served in the order of their arrival."""
        return self.order == "overall" or (self.order == "process" and instances == 1)


class Table(tuple):
    """Of Strategy."""

    def names(self):
        return [strategy.name for strategy in self]

    def named(self, name):
        return next(strategy for strategy in self if strategy.name == name)

    def recommended(self, instances):
        wanted = "processes" if instances > 1 else "process"
        return next(strategy for strategy in self if strategy.recommended and strategy.scope == wanted)


def parse(text):
    fields = {field.name for field in dataclasses.fields(Strategy)}
    return Table(Strategy(place, **{name: value or "" if name == "needs" else value
                                    for name, value in row.items() if name in fields})
                 for place, row in enumerate(json.loads(text)))


def read(binary):
    return parse(subprocess.run([binary, "strategies", "--json"], check=True, capture_output=True, text=True).stdout)
