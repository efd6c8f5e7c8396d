"""What is run, and in which order: scenarios × strategies × instances."""

import dataclasses

from .strategies import Strategy


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    number: int  # in the list of what must survive
    title: str
    subject: str  # pins, seats or coupons: which invariants are read
    rounds: int = 1  # of a full run
    quick: tuple = (1,)  # instances of a quick run; none: left out
    queues: str = "no"  # queue strategies: no, too, only
    sells_out: bool = True  # more is asked for than there is
    production: bool = False  # also with the backstop on
    instances: tuple = (1, 3)
    variables: tuple = ()  # of its script, besides the usual ones

    @property
    def script(self):
        return self.name.replace("-", "_") + ".js"


SCENARIOS = (
    Scenario("pins", 1, "100 parallel creates of pinned announcements, one festival", "pins", 3, (1, 3), production=True),
    Scenario("pin-storm", 2, "creates, pins, unpins and deletes mixed", "pins", quick=(), sells_out=False,
             instances=(3,), variables=(("ARRIVALS", 1000),)),
    Scenario("opening-second", 3, "10,000 users, 1,000 seats", "seats", production=True),
    Scenario("hot-seat", 4, "one seat, 5,000 users", "seats"),
    Scenario("double-click", 5, "one Idempotency-Key several times at once", "seats", quick=(), instances=(3,)),
    Scenario("coupon-queue", 6, "1,011 coupon requests on a stock of 1,000, 100 ms of work each", "coupons",
             queues="only", instances=(1,)),
    Scenario("coupon-per-user", 7, "1,000 users, five requests each, stock 500", "coupons", queues="too", production=True),
)


@dataclasses.dataclass(frozen=True)
class Cell:
    """One line of the comparison; run once per round."""
    scenario: Scenario
    strategy: Strategy
    backstop: str  # off, on, single (on, and instances that share neither holds nor transactions); empty: queues, which have their own
    instances: int
    workers: int = 0  # of a queue, per instance; 0: as configured

    def must_fail(self):
        """A control: a run that does not see this cell oversell is not trusted."""
        if self.backstop != "off" or self.scenario.name == "double-click":
            return False
        return self.strategy.lab_only or not self.strategy.reaches(self.instances)

    def label(self):
        form = {"off": " alone", "on": " with backstop", "single": " with backstop, not shared", "": ""}[self.backstop]
        workers = f", {self.workers} worker{'s' if self.workers > 1 else ''}" if self.workers else ""
        return (f"{self.scenario.name}: {self.strategy.name}{form}{workers} on {self.instances} "
                f"instance{'s' if self.instances > 1 else ''}")


def applies(scenario, strategy, instances):
    if strategy.is_queue():
        return scenario.queues != "no" and strategy.reaches(instances)
    if scenario.queues == "only":
        return False
    # A sale of a seat or a coupon updates the row that it read: no control there.
    return not strategy.refuses_stale_updates or scenario.subject == "pins"


def rotated(items, block):
    """The items from another one on in each block, so that over as many blocks as items each comes first once, and is
    equally often in every place."""
    start = block % len(items) if items else 0
    return items[start:] + items[:start]


def _cells(scenario, strategies, instances, quick):
    for strategy in strategies:
        if not applies(scenario, strategy, instances):
            continue
        if scenario.queues == "only":
            for workers in (1, 3, 100):
                yield Cell(scenario, strategy, "", instances, workers)
        elif strategy.is_queue():
            yield Cell(scenario, strategy, "", instances)
        else:
            yield Cell(scenario, strategy, "off", instances)
            if scenario.production and (not quick or (strategy.name == "none" and scenario.name == "pins")):
                yield from _production(scenario, strategy, instances)


def _production(scenario, strategy, instances):
    """Fence and constraints on top: `none`, for which they are everything, and what we recommend, with and without sharing."""
    recommended = strategy.recommended and (strategy.scope == "processes") == (instances > 1)
    if strategy.name == "none" or recommended:
        yield Cell(scenario, strategy, "on", instances)
    if recommended and scenario.subject != "pins":  # pins never share
        yield Cell(scenario, strategy, "single", instances)


def plan(scenarios, strategies, instances, quick, chosen=False):
    """[(instances, round, cells in their order)]; one fleet serves all blocks of equally many instances.

    `chosen`: the scenarios and instances were named by hand, and a quick run leaves none of them out."""
    blocks = []
    for count in instances:
        for scenario in scenarios:
            if not chosen and count not in (scenario.quick if quick else scenario.instances):
                continue
            cells = list(_cells(scenario, strategies, count, quick))
            for round_ in range(1 if quick else scenario.rounds):
                if cells:
                    blocks.append((count, round_, rotated(cells, len(blocks))))
    return blocks
