"""What happens when something fails under load: three instances in production form behind the proxy, loadtest/faults.js,
and a loop that kills and restarts."""

import dataclasses
import signal
import threading
import time
import typing

from . import cells, history, load
from .lab import Logs
from .progress import Progress

INSTANCES = 3
LEASE_MS = 3000
WARM_UP_S = 4
DURATION_S = 24
# Answers that the proxy or the kernel gave in place of an instance; so is a 503 without a code.
TRANSPORT = (0, 502, 504)


@dataclasses.dataclass(frozen=True)
class Fault:
    name: str
    title: str
    act: typing.Callable  # of a Scene
    coupons: str = ""  # their strategy; empty: that of everything else
    forgets: bool = False  # holds may be forgotten: two holders at once are the fence's business
    answers_all: bool = False  # every request that was read gets an answer of the service


class Scene:
    """What a fault may lay hands on, and when it did."""

    def __init__(self, lab, fleet):
        self.lab = lab
        self.fleet = fleet
        self.marks = []  # (time.time(), text)
        self.mended_at = None
        self.violations = []

    def mark(self, text):
        self.marks.append((time.time(), text))

    def mended(self, text):
        """From now on it should recover by itself."""
        self.mark(text)
        self.mended_at = time.time()

    def drain(self, instance):
        self.violations += bad_end(instance.name, instance.stop(signal.SIGTERM))


def bad_end(name, status):
    """A sentence if a process did not end well after SIGTERM."""
    if status == 0:
        return []
    if status == -signal.SIGKILL:
        return [f"{name} did not end after SIGTERM and was killed"]
    return [f"{name} ended with {status} after SIGTERM"]


def hung_drains(log):
    """A sentence if instances ended before they were quiet: they had waited as long as they may."""
    count = sum('"event":"stopped"' in line and '"level":"warn"' in line for line in log.splitlines())
    return [f"{count} instances gave up waiting for their last answers"] if count else []


def kill_instance(scene):
    victim = scene.fleet.instances[0]
    victim.stop(signal.SIGKILL)
    scene.mended("instance 1 killed")
    time.sleep(4)
    victim.start()
    scene.mark("instance 1 is back")


def stop_redis(scene):
    scene.lab.redis.send(signal.SIGSTOP)
    scene.mark("Redis stopped")
    time.sleep(2 * LEASE_MS / 1000)
    scene.lab.redis.send(signal.SIGCONT)
    scene.mended("Redis goes on")


def empty_redis(scene):
    scene.lab.redis.stop(signal.SIGKILL)
    scene.mark("Redis killed")
    time.sleep(2 * LEASE_MS / 1000)
    scene.lab.redis.start()
    scene.mended("Redis is back, empty")


def restart_postgres(number, how):
    def act(scene):
        scene.mark(f"PostgreSQL stopped ({how})")
        scene.lab.postgres.stop(number)
        time.sleep(1)
        scene.lab.postgres.start()
        scene.mended("PostgreSQL is back")
    return act


def restart_rabbitmq(scene):
    scene.mark("RabbitMQ stopped")
    scene.lab.rabbitmq.stop()
    time.sleep(2)
    scene.lab.rabbitmq.start()
    scene.mended("RabbitMQ is back")


def drain_instance(scene):
    victim = scene.fleet.instances[0]
    scene.mark("SIGTERM to instance 1")
    scene.drain(victim)
    scene.mended("instance 1 has ended")
    time.sleep(2)
    victim.start()
    scene.mark("instance 1 is back")


def rolling_upgrade(scene):
    """festabook_next is this service with one migration more; its first instance applies it while two old ones serve."""
    for number, instance in enumerate(scene.fleet.instances, 1):
        scene.drain(instance)
        instance.start(arguments=[scene.lab.programs.festabook_next])
        scene.mark(f"instance {number} is new")
        # The proxy has to see it before the next one leaves.
        time.sleep(1)
    scene.mended("all are new")


FAULTS = (
    Fault("kill", "kill -9 of an instance, and its restart", kill_instance),
    Fault("redis-stopped", "Redis stands still for two leases", stop_redis),
    Fault("redis-emptied", "Redis killed and started again empty after two leases", empty_redis, forgets=True),
    Fault("postgres-fast", "PostgreSQL restarted (fast)", restart_postgres(signal.SIGINT, "fast")),
    Fault("postgres-immediate", "PostgreSQL restarted (immediate, as after a crash)",
          restart_postgres(signal.SIGQUIT, "immediate")),
    Fault("rabbitmq", "RabbitMQ stopped and started, coupons by queue-rabbitmq", restart_rabbitmq,
          coupons="queue-rabbitmq"),
    Fault("sigterm", "SIGTERM of an instance", drain_instance, answers_all=True),
    # The last one: it leaves a newer schema behind.
    Fault("rolling-upgrade", "all instances replaced one by one by a version with one migration more", rolling_upgrade,
          answers_all=True),
)


class LeaseWatch:
    """Looks at the holds in Redis: none may last longer than a lease."""

    def __init__(self, redis):
        self._redis = redis
        self._over = threading.Event()
        self.broken = set()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def held(self):
        """{key: milliseconds left}"""
        keys = self._redis.command("KEYS", "festabook:*:hold:*").split()
        return {key: int(self._redis.command("PTTL", key)) for key in keys}

    def _run(self):
        while not self._over.wait(0.25):
            try:
                # -2: gone since.
                self.broken |= {f"{key} is held for {left} ms more, and a lease is {LEASE_MS} ms"
                                for key, left in self.held().items() if left > LEASE_MS or left == -1}
            except (OSError, RuntimeError, ValueError):
                continue  # stopped, away, or loading

    def finish(self):
        """All load is over: after one lease nothing is held."""
        self._over.set()
        self._thread.join()
        deadline = time.monotonic() + LEASE_MS / 1000 + 0.5
        while self.held() and time.monotonic() < deadline:
            time.sleep(0.1)
        return sorted(self.broken | {f"{key} is still held a lease after the last request" for key in self.held()})


def timeline(answers, began, step=0.5):
    """[{"t", "accepted_per_s", "errors_per_s"}] by when answers came."""
    points = {}
    for answer in answers:
        number = int((answer["received"] / 1000 - began) / step)
        point = points.setdefault(number, [0, 0])
        point[0] += load.is_accepted(answer)
        point[1] += is_error(answer)
    return [{"t": number * step, "accepted_per_s": points.get(number, (0, 0))[0] / step,
             "errors_per_s": points.get(number, (0, 0))[1] / step} for number in range(max(points, default=-1) + 1)]


def is_error(answer):
    return answer["status"] == 0 or answer["status"] >= 500


def is_transport_error(answer):
    return answer["status"] in TRANSPORT or (answer["status"] == 503 and not answer["code"])


def recovery(answers, began_at, mended_at):
    """Seconds from the mending until the service was itself again: to its last error, or its last answer that took more than
    a second and much longer than before the fault. None if errors came to the very end, or nothing sent since was accepted."""
    taken = lambda answer: answer["received"] - answer["sent"]
    before = sorted(taken(answer) for answer in answers if answer["received"] / 1000 < began_at)
    slow = max(1000.0, 5 * before[int(0.99 * len(before))] if before else 0.0)
    bad = [answer["received"] / 1000 for answer in answers if is_error(answer) or taken(answer) > slow]
    last_error = max((answer["received"] / 1000 for answer in answers if is_error(answer)), default=0.0)
    if last_error > max(answer["received"] for answer in answers) / 1000 - 1:
        return None
    if not any(load.is_accepted(answer) and answer["sent"] / 1000 >= mended_at for answer in answers):
        return None
    return round(max(0.0, max(bad, default=0.0) - mended_at), 1)


def last_outcome(answers, mended_at):
    """Seconds from the mending until the last client that had met an error knew its outcome, which may take longer: an
    unfinished attempt stays REQUEST_IN_PROGRESS until its time is over."""
    tries = {}
    for answer in answers:
        tries.setdefault((answer["user"], answer.get("idempotency", answer["who"])), []).append(answer)
    ends = [max(answer["received"] for answer in all_) / 1000 for all_ in tries.values() if any(map(is_error, all_))]
    return round(max(0.0, max(ends, default=0.0) - mended_at), 1)


def judge(lab, fault, run, log, watch):
    seats = [answer for answer in run.answers if answer["key"].startswith("seat")]
    claims = [answer for answer in run.answers if answer["key"].startswith("coupon")]
    verdict = lab.judge.judge("seats", run.subject, seats, log, sold_out=False)
    other = lab.judge.judge("coupons", run.subject, claims, log, sold_out=False)
    verdict.violations += other.violations + watch.finish() + history.false_refusals(run.answers, log)
    verdict.violations += hung_drains(log) + run.broken_thresholds()
    verdict.oversold += other.oversold
    verdict.facts |= {"coupons_granted": other.facts["sold"]}
    if fault.forgets:
        twice = [said for said in verdict.violations if "was granted while" in said]
        verdict.violations = [said for said in verdict.violations if said not in twice]
        verdict.facts["holds_that_met"] = len(twice)
    unknown = sum(answer.get("final", False) and is_error(answer) for answer in run.answers)
    if unknown:
        verdict.violations.append(f"{unknown} requests never got a known outcome, however often they asked")
    lost = sum(map(is_transport_error, run.answers))
    verdict.facts["transport_errors"] = lost
    if fault.answers_all and lost:
        verdict.violations.append(f"{lost} requests were not answered by the service")
    return verdict


def run_fault(lab, fault):
    strategy = lab.programs.strategies.recommended(INSTANCES).name
    settings = {"FESTA_LOCK_LOCKABLES_COUPONS_STRATEGY": fault.coupons or strategy}
    lab.stop_fleet()
    fleet = lab.fleet(INSTANCES, **settings)
    scene, logs, watch = Scene(lab, fleet), Logs(fleet), LeaseWatch(lab.redis)
    folder, log = lab.folder / "k6", lab.processes.logs / f"k6-fault-{fault.name}.log"
    variables = {"BASE_URL": fleet.url(), "TOKENS": lab.tokens, "STRATEGY": "", "COUPON_STRATEGY": "", "BACKSTOP": "",
                 "DURATION": DURATION_S, "RATE": 60, "COUPON_RATE": 20}
    child = load.start(lab.programs.k6, "faults.js", folder, variables, log)
    try:
        load.wait_for_answers(child, folder)
        time.sleep(WARM_UP_S)
        fault.act(scene)
    except BaseException:
        child.terminate()
        child.wait(30)
        raise
    run = load.finish(child, folder, log)
    cells.wait_for_claims(lab, [run.subject["coupon"]], seconds=60)
    verdict = judge(lab, fault, run, logs.text(), watch)
    verdict.violations += scene.violations
    began = run.began()
    healed = recovery(run.answers, scene.marks[0][0], scene.mended_at)
    verdict.facts["last_outcome_s"] = last_outcome(run.answers, scene.mended_at)
    if healed is None:
        verdict.violations.append("it did not recover while it was watched")
    return {"fault": fault.name, "title": fault.title, "strategy": strategy, "coupons": fault.coupons or strategy,
            "instances": INSTANCES, "verdict": verdict.to_json(), "outcomes": run.outcomes(), "recovery_s": healed,
            "timeline": timeline(run.answers, began),
            "marks": [{"t": round(moment - began, 1), "text": text} for moment, text in scene.marks]}


def run(lab, names, results):
    """True if everything held."""
    chosen = [fault for fault in FAULTS if not names or fault.name in names]
    progress, lines = Progress(len(chosen)), []
    for fault in chosen:
        progress.begin(fault.title)
        line = run_fault(lab, fault)
        lines.append(line)
        found = line["verdict"]
        recovered = f"recovered after {line['recovery_s']} s" if line["recovery_s"] is not None else "not recovered"
        progress.end(f"ok, {recovered}" if found["ok"] else f"BROKEN: {'; '.join(found['violations'][:3])}")
        results.set("faults", lines)
    return all(line["verdict"]["ok"] for line in lines)
