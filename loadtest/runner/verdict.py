"""Whether what must hold did: read from the database, the services' logs and the clients' answers, never from status
codes alone."""

import dataclasses
import subprocess

from . import history
from .processes import ROOT

INVARIANTS = ROOT / "loadtest" / "invariants"
MOST_SENTENCES = 20


@dataclasses.dataclass(frozen=True)
class Area:
    """How one kind of subject is looked at."""
    ids: str  # in the script's subject line: a number or a list of them
    stored_by: tuple  # statuses that say that a row was stored
    rows: str  # all rows of the subjects $1, with whose they are
    facts: str


AREAS = {
    "pins": Area(
        "festivals", (201,),
        "SELECT id FROM announcements WHERE festival_id = ANY ($1)",
        "SELECT max(pins) AS sold, 3 AS limit FROM (SELECT count(a.id) AS pins FROM festivals f LEFT JOIN announcements a"
        " ON a.festival_id = f.id AND a.is_pinned WHERE f.id = ANY ($1) GROUP BY f.id) AS each"),
    "seats": Area(
        "performance", (200, 201),
        "SELECT r.id, r.user_id AS user FROM reservations r WHERE r.performance_id = ANY ($1)",
        "SELECT (SELECT count(*) FROM reservations WHERE performance_id = ANY ($1) AND cancelled_at IS NULL) AS sold,"
        " (SELECT count(*) FROM seats WHERE performance_id = ANY ($1)) AS limit"),
    "coupons": Area(
        "coupon", (201, 202),
        "SELECT id, user_id AS user, sequence, state FROM coupon_claims WHERE coupon_id = ANY ($1)",
        "SELECT (SELECT count(*) FROM coupon_claims WHERE coupon_id = ANY ($1) AND state IN ('PROCESSED', 'DONE')) AS sold,"
        " (SELECT sum(stock) FROM coupons WHERE id = ANY ($1)) AS limit"),
}


def ids_of(subject, area):
    value = subject.get(area.ids, subject.get(area.ids.rstrip("s"), subject.get(area.ids + "s", [])))
    return value if isinstance(value, list) else [value]


def history_check(program, lines, *options):
    """The checker's sentences about these events."""
    done = subprocess.run([program, *options], input="\n".join([*lines, ""]), capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"history_check: {done.stderr.strip()}")
    return done.stdout.splitlines()


class Verdict:
    def __init__(self):
        self.violations = []
        self.oversold = 0
        self.facts = {}

    def to_json(self, must_fail=False):
        shown = self.violations[:MOST_SENTENCES]
        if len(self.violations) > MOST_SENTENCES:
            shown.append(f"… and {len(self.violations) - MOST_SENTENCES} more")
        return {"ok": not self.violations, "must_fail": must_fail, "oversold": self.oversold, "violations": shown,
                "facts": self.facts}

    def add(self, other):
        """Another round of the same."""
        self.violations += other.violations
        self.oversold += other.oversold
        for name, value in other.facts.items():
            self.facts[name] = max(self.facts.get(name, value), value)


class Judge:
    def __init__(self, postgres, history_checker):
        self._postgres = postgres
        self._program = history_checker

    def judge(self, subject_kind, subject, answers, log, queued=False, ordered=False, sold_out=True):
        """`log`: what the instances wrote meanwhile. `ordered`: grants in the order of arrival are promised.
        `queued`: the answer comes before the turn, and the sequence is the order.
        `sold_out`: enough was asked for to leave nothing."""
        area = AREAS[subject_kind]
        ids = ids_of(subject, area)
        verdict = Verdict()
        broken, facts, rows = self._postgres.rows_of(
            [(INVARIANTS / f"{subject_kind}.sql").read_text(), area.facts, area.rows], ids)
        for found in broken:
            verdict.violations.append(found["broken"])
            verdict.oversold += found["oversold"]
        verdict.facts = facts[0]
        self._check_history(verdict, area, rows, answers, log)
        if subject_kind == "coupons" and any(row["state"] not in ("DONE", "FAILED") for row in rows):
            verdict.violations.append("claims were left without an outcome")
        if ordered:
            self._check_order(verdict, rows, answers, log, queued)
        if sold_out and verdict.facts["sold"] < verdict.facts["limit"]:
            verdict.violations.append(f"only {verdict.facts['sold']} of {verdict.facts['limit']} were given away")
        return verdict

    def _check_history(self, verdict, area, rows, answers, log):
        locks = history.lock_lines(log, {answer["who"] for answer in answers})
        wanted, twice = history.operations(answers, area.stored_by)
        by_row, unexplained = history.owners(rows, wanted, area.stored_by)
        verdict.violations += twice + unexplained
        lines = history.holds(locks) + history.rows_and_answers(by_row, wanted, locks, area.stored_by)
        unknown = ",".join(str(status) for status in history.UNKNOWN)
        verdict.violations += history_check(self._program, lines, "--unknown", unknown)
        verdict.facts["events"] = len(lines)

    def _check_order(self, verdict, rows, answers, log, queued):
        if queued:
            numbers = {str(row["id"]): row["sequence"] for row in rows if row["sequence"] is not None}
            lines = history.turns(answers, numbers)
            verdict.violations += history_check(self._program, lines, "--fifo")
            return
        locks = history.lock_lines(log, {answer["who"] for answer in answers})
        # A quarter of a second to get in line: shorter differences are not told apart.
        lines = history.holds(locks) + history.arrivals(locks, history.NS // 4)
        late = [said for said in history_check(self._program, lines, "--fifo") if "was received before" in said]
        verdict.facts["out_of_turn"] = len(late)
