"""One line of the comparison: run, measure, judge."""

import collections
import time

from . import load, prometheus, redis_stats, sampling
from .lab import POOL, Logs
from .verdict import Verdict

WORK_MS = 100
TRIES_OF_A_CONTROL = 5
UNFINISHED = "SELECT 1 FROM coupon_claims WHERE coupon_id = ANY ($1) AND state IN ('NEW', 'PROCESSED') LIMIT 1"


def fleet_settings(cell):
    if cell.backstop == "single":
        return {"FESTA_DATABASE_BATCH_MEMBERS": "1", "FESTA_LOCK_LOCKABLES_COUPONS_TOGETHER": "1"}
    if not cell.workers:
        return {}
    return {"FESTA_QUEUE_WORKERS": str(cell.workers), "FESTA_QUEUE_WORK_MS": str(WORK_MS)}


def variables(lab, fleet, cell, scale):
    return {"BASE_URL": fleet.url(), "TOKENS": lab.tokens, "STRATEGY": cell.strategy.name,
            "QUEUES": "yes" if cell.strategy.is_queue() else "", "BACKSTOP": "on" if cell.backstop == "single" else cell.backstop, "SCALE": scale,
            "WORK_MS": WORK_MS if cell.workers else 0, **dict(cell.scenario.variables)}


class Measured:
    """What one or several rounds of a cell gave."""

    def __init__(self, cell, order):
        self.cell = cell
        self.order = order
        self.rounds = 0
        self.verdict = Verdict()
        self._seconds = 0.0
        self._outcomes = collections.Counter()
        self._latencies = {"accepted": [], "rejected": []}
        self._readings = ([], [])  # of /metrics, before and after
        self._commands = 0
        self._cpu_ms = 0.0
        self._rss = []
        self._timeline = []
        self._dropped = 0
        self._thresholds = True

    def add(self, run, verdict, readings, commands, sampler):
        self.rounds += 1
        self.verdict.add(verdict)
        self._seconds += run.seconds()
        self._outcomes.update(run.outcomes())
        for kind, values in run.latencies().items():
            self._latencies[kind] += values
        for kept, new in zip(self._readings, readings):
            kept.extend(new)
        self._commands += commands
        self._cpu_ms += sampler.cpu_ms()
        self._rss.append(sampler.rss_mb())
        self._dropped += run.summary.get("dropped_iterations", 0)
        self._thresholds = self._thresholds and run.summary.get("thresholds_ok", True)
        if not self._timeline:
            step = 0.2 if run.seconds() < 4 else 1.0
            self._timeline = sampling.timeline(sampler.samples, run.accepted_at(), run.began(), step)

    def failed(self, text):
        self.rounds += 1
        self.verdict.violations.append(text)

    def is_failure(self):
        return bool(self.verdict.violations) and not self.cell.must_fail()

    def is_blind(self):
        return self.cell.must_fail() and self.verdict.oversold == 0

    def is_good(self):
        """It kept its promise, or was seen to fail as it must."""
        return not self.is_failure() and not self.is_blind()

    def to_json(self):
        cell, answers = self.cell, sum(self._outcomes.values())
        per_second = lambda wanted: round(
            sum(count for what, count in self._outcomes.items() if wanted({"status": int(what.split()[0])}))
            / self._seconds, 1) if self._seconds else 0.0
        histogram = lambda name: prometheus.percentiles_ms(*self._readings, name, strategy=cell.strategy.name)
        on_redis = cell.strategy.needs in ("redis", "redlock")
        return {
            "scenario": cell.scenario.name, "title": cell.scenario.title, "strategy": cell.strategy.name,
            "place": cell.strategy.place, "lab_only": cell.strategy.lab_only,
            "backstop": cell.backstop, "instances": cell.instances, "pool": POOL, "workers": cell.workers or None,
            "order": self.order, "rounds": self.rounds, "verdict": self.verdict.to_json(cell.must_fail()),
            "seconds": round(self._seconds, 3), "accepted_per_s": per_second(load.is_accepted),
            "rejected_per_s": per_second(load.is_rejected),
            "errors_per_s": per_second(lambda a: not load.is_accepted(a) and not load.is_rejected(a)),
            "outcomes": dict(sorted(self._outcomes.items())),
            "latency_ms": {kind: load.percentiles(values) for kind, values in self._latencies.items()},
            "dropped_iterations": self._dropped, "thresholds_ok": self._thresholds,
            "lock_ms": {"wait": histogram("festa_lock_wait_seconds"), "hold": histogram("festa_lock_hold_seconds"),
                        "pool_wait": histogram("festa_pool_wait_seconds")},
            "redis_commands_per_request": round(self._commands / answers, 2) if on_redis and answers else None,
            "rss_mb": {"start": self._rss[0]["start"], "max": max(each["max"] for each in self._rss)}
            if self._rss else None,
            "cpu_ms_per_request": round(self._cpu_ms / answers, 3) if answers else None,
            "timeline": self._timeline}


def wait_for_claims(lab, ids, seconds=180):
    """A queue answers before it has worked; what it has not finished in time is a finding."""
    deadline = time.monotonic() + seconds
    while lab.postgres.rows(UNFINISHED, ids) and time.monotonic() < deadline:
        time.sleep(0.1)


def run_script(lab, cell, scale, name):
    """One run of a cell's script."""
    fleet = lab.fleet(cell.instances, **fleet_settings(cell))
    folder, log = lab.folder / "k6", lab.processes.logs / f"k6-{name}.log"
    child = load.start(lab.programs.k6, cell.scenario.script, folder, variables(lab, fleet, cell, scale), log)
    run = load.finish(child, folder, log)
    fleet.has_served = True
    return run


def warm_up(lab, cell):
    run_script(lab, cell, 0.1, "warm-up")


def look_at_samples(run, verdict):
    """What a reader saw meanwhile (pin-storm): the end may be right where the middle was not."""
    most = (run.summary.get("facts") or {}).get("most_pinned")
    if most is not None:
        verdict.facts["most_pinned"] = most
        if most > verdict.facts["limit"]:
            verdict.violations.append(f"{most} pinned announcements were seen at once")
            verdict.oversold = max(verdict.oversold, most - verdict.facts["limit"])


def look_at_thresholds(cell, run, verdict):
    """A control may answer what it likes."""
    if not cell.must_fail():
        verdict.violations += run.broken_thresholds()


def run_round(lab, measured, scale):
    cell = measured.cell
    fleet = lab.fleet(cell.instances, **fleet_settings(cell))
    logs, redis = Logs(fleet), lab.redis_info()
    before = [instance.metrics() for instance in fleet.instances]
    with sampling.Sampler(lambda: [instance.pid for instance in fleet.instances]) as sampler:
        run = run_script(lab, cell, scale, cell.scenario.name)
        if cell.strategy.is_queue():
            wait_for_claims(lab, [run.subject["coupon"]])
    after = [instance.metrics() for instance in fleet.instances]
    commands = redis_stats.sent(redis, lab.redis_info())
    verdict = lab.judge.judge(
        cell.scenario.subject, run.subject, run.answers, logs.text(), queued=cell.strategy.is_queue(),
        ordered=cell.strategy.keeps_order(cell.instances), sold_out=cell.scenario.sells_out)
    look_at_samples(run, verdict)
    look_at_thresholds(cell, run, verdict)
    measured.add(run, verdict, (before, after), commands, sampler)


def run_cell(lab, measured, scale):
    """Once, and controls until they are seen to fail, but not for ever. Instances that have just been started are warmed up."""
    try:
        if not lab.fleet(measured.cell.instances, **fleet_settings(measured.cell)).has_served:
            warm_up(lab, measured.cell)
        run_round(lab, measured, scale)
        while measured.is_blind() and measured.rounds < TRIES_OF_A_CONTROL:
            run_round(lab, measured, scale)
    except load.LoadError as error:
        measured.failed(f"the script failed: {error}")
