"""One run of a k6 script: what it printed, and what its answers say."""

import collections
import json
import pathlib
import re
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


class LoadError(Exception):
    """The script itself failed: there is nothing to judge."""


def percentiles(values):
    """{"count", "p50", "p95", "p99", "max"} of exact values, in milliseconds; None without any."""
    ordered = sorted(values)
    if not ordered:
        return None
    at = lambda share: round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)
    return {"count": len(ordered), "p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "max": round(ordered[-1], 3)}


def outcome(answer):
    return f"{answer['status']} {answer['code']}".strip()


def is_accepted(answer):
    return 200 <= answer["status"] < 300


def is_rejected(answer):
    """Refused for a reason that the client can understand: another request was first."""
    return 400 <= answer["status"] < 500


def taken(answer):
    """Milliseconds until the client knew its outcome: of a queue's 202, until the claim was seen to be over."""
    if answer["status"] == 202 and answer.get("finished"):
        return answer["finished"] - answer["sent"]
    return answer.get("ms", answer["received"] - answer["sent"])


class Run:
    """`subject` and `answers` are the script's own lines, `summary` its JSON."""

    def __init__(self, subject, answers, summary):
        self.subject = subject
        self.answers = answers
        self.summary = summary

    def outcomes(self):
        return dict(sorted(collections.Counter(outcome(answer) for answer in self.answers).items()))

    def latencies(self):
        """Of accepted and rejected ones apart."""
        of = lambda chosen: [taken(answer) for answer in self.answers if chosen(answer)]
        return {"accepted": of(is_accepted), "rejected": of(is_rejected)}

    def broken_thresholds(self):
        """A sentence if answers were not what the script says they must be."""
        if self.summary.get("thresholds_ok", True):
            return []
        return [f"k6's thresholds were not held: {self.summary['not_held']}"]

    def seconds(self):
        """From the first request to the last answer, or until the last claim in a queue was finished: a script's set-up does
        not count."""
        if not self.answers:
            return 0.0
        ends = (max(answer["received"], answer.get("finished") or 0) for answer in self.answers)
        return (max(ends) - min(answer["sent"] for answer in self.answers)) / 1000

    def began(self):
        """In seconds since the epoch."""
        return min((answer["sent"] for answer in self.answers), default=0.0) / 1000

    def accepted_at(self):
        return sorted(answer["received"] / 1000 for answer in self.answers if is_accepted(answer))


def read_console(text):
    """(subject, answers) from what a script printed."""
    subject, answers = {}, []
    for line in text.splitlines():
        if not line.startswith("{"):
            continue
        said = json.loads(line)
        if said.get("kind") == "subject":
            subject.update(said)
        elif said.get("kind") == "answer":
            answers.append(said)
    return subject, answers


def not_held(text):
    """The thresholds that a script's last words name."""
    found = re.search(r"^  not held: (.+)$", text, re.MULTILINE)
    return found[1] if found else "which, it did not say"


def start(k6, script, folder, variables, log):
    """The script as a child process; finish() reads what it left in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in ("console.jsonl", "summary.json"):
        (folder / file).unlink(missing_ok=True)
    variables = {**variables, "SUMMARY": folder / "summary.json"}
    settings = [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
    output = open(log, "wb")
    return subprocess.Popen(
        [k6, "run", "--quiet", "--no-usage-report", "--address", "", "--log-format", "raw", "--console-output",
         folder / "console.jsonl", *settings, ROOT / script],
        stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)


def wait_for_answers(child, folder):
    """Until the load has begun: a script's set-up is over."""
    console = folder / "console.jsonl"
    while child.poll() is None and not (console.exists() and '"kind":"answer"' in console.read_text()):
        time.sleep(0.05)


def finish(child, folder, log, seconds=600):
    """Thresholds that were missed are exit 99 and for the verdict; everything else is an error of the script."""
    try:
        status = child.wait(seconds)
    except BaseException:
        child.terminate()
        child.wait(30)
        raise
    text = pathlib.Path(log).read_text(errors="replace")
    if status not in (0, 99) or not (folder / "summary.json").exists():
        raise LoadError(f"k6 ended with {status} (log: {log}):\n{text[-1500:]}")
    subject, answers = read_console((folder / "console.jsonl").read_text())
    return Run(subject, answers, {**json.loads((folder / "summary.json").read_text()), "not_held": not_held(text)})
