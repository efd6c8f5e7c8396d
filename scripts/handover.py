#!/usr/bin/env python3
"""./dev handover: what is too long for CI, each once on the commit that is handed over.

Steps that have ended on this commit are not run again, unless they are named; an interrupted one begins anew. What has passed, failed
or was not run is told at the end, with the results in git that name a commit which is not in the history and the mutations that no
test was seen to notice. State and logs are in .run/handover, reports in .run/results. Exit 0: every step has passed, and so have the results.
"""
import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import mutate

ROOT = pathlib.Path(__file__).resolve().parents[1]
STEPS = {
    "full": ["./dev", "test", "--full"],
    "compose": ["./dev", "compose", "test"],
    "fuzz": ["./dev", "fuzz", "600"],
    "bench": ["./dev", "bench", "--out", ".run/results"],
    "loadtest": ["./dev", "loadtest", "--out", ".run/results"],
    "faults": ["./dev", "loadtest", "--faults", "--out", ".run/results"],
}
# Written after the steps, each with the commits that it was measured on; a commit that changes only these hands over the same state.
RESULTS = ["docs/benchmarks.md", "tests/mutations/results.md"]
COMMIT = re.compile(r"(?:festabook |[Cc]ommit |`)([0-9a-f]{7,40})\b`?(\+changes| with changes)?")


@dataclasses.dataclass
class Ended:
    """One run of a step. `status`: that of its command; None: it was interrupted."""
    started: str
    seconds: int
    status: int | None
    log: str

    def word(self):
        return {0: "passed", None: "interrupted"}.get(self.status, f"failed ({self.status})")


class Git:
    def __init__(self, root):
        self._root = root

    def said(self, *arguments):
        return subprocess.run(["git", "-C", self._root, *arguments], check=True, capture_output=True, text=True).stdout.strip()

    def agrees(self, *arguments):
        return subprocess.run(["git", "-C", self._root, *arguments], capture_output=True).returncode == 0

    def head(self):
        return self.said("rev-parse", "HEAD")

    def is_changed(self):
        return self.said("status", "--porcelain", "--untracked-files=no", "--", ".", *(f":!{name}" for name in RESULTS)) != ""

    def is_ancestor(self, commit):
        return self.agrees("cat-file", "-e", f"{commit}^{{commit}}") and self.agrees("merge-base", "--is-ancestor", commit, "HEAD")

    def is_same_state(self, commit):
        return self.is_ancestor(commit) and self.agrees("diff", "--quiet", commit, "HEAD", "--", ".", *(f":!{name}" for name in RESULTS))


def wrong_results(root, git):
    """Results in git that do not name a commit of the history."""
    if git.said("rev-parse", "--is-shallow-repository") == "true":
        yield "this clone is shallow: whether results name commits of the history cannot be seen here"
        return
    for name in RESULTS:
        path = root / name
        found = COMMIT.findall(path.read_text()) if path.exists() else []
        if not found:
            yield f"{name} is missing or names no commit"
        for commit, changes in sorted(set(found)):
            if changes:
                yield f"{name} was made from {commit} with changes that are not in git"
            elif not git.is_ancestor(commit):
                yield f"{name} names {commit}, which is not in the history"


def blind_tests(root):
    """Mutations that the tests were not seen to notice."""
    for name, row in mutate.recorded(root).items():
        verdict = mutate.cells(row)[4].strip("*")
        if verdict != "killed":
            yield f"mutation {name}: {verdict}"


class Handover:
    def __init__(self, root, folder, steps):
        self._root, self._folder, self._steps = root, folder, steps
        self._git = Git(root)
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / "state.json"
        self._commit, self._ended = self._git.head(), {}
        if self._file.exists():
            state = json.loads(self._file.read_text())
            if self._git.is_same_state(state["commit"]):
                self._commit = state["commit"]
                self._ended = {name: Ended(**one) for name, one in state["steps"].items()}

    def _keep(self):
        new = self._file.with_suffix(".new")
        new.write_text(json.dumps({"commit": self._commit, "steps": {name: dataclasses.asdict(one) for name, one in self._ended.items()}}, indent=1))
        new.replace(self._file)

    def open_steps(self, names):
        """Those that are named, or all that have not ended."""
        return [name for name in self._steps if name in names or
                (not names and self._ended.get(name, Ended("", 0, None, "")).status is None)]

    def run(self, names=(), deadline=None):
        """Until the time `deadline` of time.monotonic()."""
        if self._git.is_changed():
            sys.exit("festabook: there are changes that are not in git; what is handed over is a commit.")
        for name in self.open_steps(names):
            if deadline is not None and time.monotonic() >= deadline:
                break
            print(f"- {name}: {' '.join(self._steps[name])} … (log: {self._folder / name}.log)", flush=True)
            self._ended[name] = self._run_step(name, deadline)
            self._keep()
            print(f"  {self._ended[name].word()} after {self._ended[name].seconds} s", flush=True)

    def _run_step(self, name, deadline):
        log, began = self._folder / f"{name}.log", time.monotonic()
        ended = Ended(datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds"), 0, None, str(log))
        self._ended[name] = ended
        self._keep()  # a step that is killed with this program is known to have begun
        with open(log, "w", encoding="utf-8") as file, subprocess.Popen(
                self._steps[name], cwd=self._root, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, start_new_session=True) as running:
            try:
                ended.status = running.wait(None if deadline is None else max(0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                self._stop(running)
            except (KeyboardInterrupt, SystemExit):
                self._stop(running)
                ended.seconds = round(time.monotonic() - began)
                self._keep()
                raise
        ended.seconds = round(time.monotonic() - began)
        return ended

    @staticmethod
    def _stop(running):
        os.killpg(running.pid, signal.SIGTERM)
        running.wait()

    def table(self):
        lines = [f"festabook {self._commit[:12]}", "", "| step | command | result | began | seconds |", "|---|---|---|---|---|"]
        for name, command in self._steps.items():
            one = self._ended.get(name)
            lines.append(f"| {name} | `{' '.join(command)}` | " + (f"{one.word()} | {one.started} | {one.seconds} |" if one else "not run | | |"))
        return "\n".join(lines) + "\n"

    def verdict(self):
        """What is against handing this commit over."""
        for name in self._steps:
            one = self._ended.get(name)
            if one is None or one.status != 0:
                yield f"{name}: " + (one.word() if one else "not run")
        yield from wrong_results(self._root, self._git)
        yield from blind_tests(self._root)


def main():
    parser = argparse.ArgumentParser(prog="./dev handover", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", metavar="STEP", help="run these, although they may have ended: " + ", ".join(STEPS))
    parser.add_argument("--minutes", type=float, help="stop after so long; what did not fit is named")
    parser.add_argument("--status", action="store_true", help="run nothing")
    options = parser.parse_args()
    for name in options.steps:
        if name not in STEPS:
            parser.error(f"there is no step '{name}'")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    handover = Handover(ROOT, pathlib.Path(os.environ.get("FESTA_RUN_DIR") or ROOT / ".run").resolve() / "handover", STEPS)
    if not options.status:
        handover.run(options.steps, None if options.minutes is None else time.monotonic() + options.minutes * 60)
    print("\n" + handover.table())
    against = list(handover.verdict())
    for line in against:
        print("FAILED:", line)
    return 1 if against else 0


if __name__ == "__main__":
    sys.exit(main())
