#!/usr/bin/env python3
"""./dev mutate: breaks the code on purpose, one mutation of tests/mutations at a time, and sees the tests that it names fail.

It works in a copy of the checkout, .build/mutants, and goes on where it stopped: what was found is kept in .run/mutations until the
mutation or the commit changes. `--check` builds nothing: every mutation still applies, its tests exist, it has a row in
tests/mutations/results.md, and every promise of docs/guarantees.md has a mutation or is named in tests/mutations/uncovered.toml with
a reason.
"""
import argparse
import collections
import dataclasses
import datetime
import fcntl
import fnmatch
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
PATIENCE = 400  # seconds for the tests of one filter
LEAST_QUOTED = 20  # characters of a promise that is the words of a sentence
FAILED = re.compile(r"^\[  FAILED  \] ([\w/]+\.[\w/-]+)", re.MULTILINE)
PROMISE = re.compile(r"^- \*\*((?:(?!\*\*).)+)\*\*\s+(?:Tested by|Bound:) ", re.MULTILINE | re.DOTALL)
RAN = re.compile(r"^\[==========\] ([1-9]\d*) tests? from .* ran\.", re.MULTILINE)
TEST = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
MEANING = """`killed`: each of the named tests failed, as it must. `survived`: a named test passed, so it is blind to this mistake.
`does not apply`: the text to be replaced is not in the file exactly once. `does not build`: the mutation is no C++.
`control failed`: the tests fail without the mutation, too, so they say nothing about it. A mutation that was changed after it was
run is `not run`: the digest is of what it replaces, by what, and of its tests."""
NOT_RUN = "not run"


@dataclasses.dataclass(frozen=True)
class Mutation:
    name: str
    promise: str  # of docs/guarantees.md: a promise of its lists or its beginning, or the words of a sentence
    what: str     # what the mistake is
    file: str
    find: str     # exactly once in the file
    replace: str
    tests: tuple  # "PROGRAM FILTER": some test of each must fail

    def digest(self):
        """Of what is done; its words may change."""
        return hashlib.sha256(repr((self.file, self.find, self.replace, self.tests)).encode()).hexdigest()[:16]

    def targets(self):
        return [test.split(" ", 1) for test in self.tests]


def read(checkout):
    mutations = []
    for path in sorted((checkout / "tests" / "mutations").glob("*.toml")):
        for entry in tomllib.loads(path.read_text()).get("mutation", []):
            mutations.append(Mutation(**{**entry, "tests": tuple(entry["tests"])}))
    return mutations


def mutated(mutation, checkout):
    """The file's text with the mistake; None if the mutation does not apply."""
    path = checkout / mutation.file
    text = path.read_text() if path.exists() else ""
    return text.replace(mutation.find, mutation.replace) if text.count(mutation.find) == 1 else None


# --check

def plain(text):
    return " ".join(text.split())


def promises(document):
    """What is bold in `- **A promise.** Tested by …` and `- **What is bounded.** Bound: …`, without the full stop."""
    return [plain(bold).removesuffix(".") for bold in PROMISE.findall(document)]


def begins(row, promise):
    return row.casefold().startswith(promise.casefold())


def is_promised(promise, rows, document):
    return any(begins(row, promise) for row in rows) or (len(promise) >= LEAST_QUOTED and promise.casefold() in document.casefold())


def tests_of(checkout, program):
    """A program is made of the folder of its name; `exit` of one file of the folder of chaos, and that program of the others."""
    folder, names = "chaos" if program == "exit" else program, set()
    for path in (checkout / "tests" / folder).rglob("*"):
        is_of_exit = folder == "chaos" and path.name == "exit_test.cc"
        if path.suffix == ".h" or (path.suffix == ".cc" and is_of_exit == (program == "exit")):
            names.update(f"{suite}.{name}" for suite, name in TEST.findall(path.read_text()))
    return names


def is_known(pattern, tests):
    """Instances of a parameterised test are Prefix/Suite.Name/Case."""
    suite, _, name = pattern.partition(".")
    bare = suite.split("/")[-1] + "." + (name.split("/")[0] if name else "*")
    return any(fnmatch.fnmatchcase(test, bare) for test in tests)


def faults_of(mutation, checkout, rows, document, tests):
    if mutated(mutation, checkout) is None:
        yield f"does not apply: its text is not exactly once in {mutation.file}"
    if mutation.find == mutation.replace:
        yield "changes nothing"
    if not is_promised(plain(mutation.promise), rows, document):
        yield f"docs/guarantees.md does not promise '{mutation.promise}'"
    for program, patterns in mutation.targets():
        for pattern in patterns.split("-")[0].split(":"):
            if not is_known(pattern, tests(program)):
                yield f"{program} has no test {pattern}"


def recorded(checkout):
    """The rows of results.md, by their mutation's name."""
    path = checkout / "tests" / "mutations" / "results.md"
    lines = path.read_text().split("\n") if path.exists() else []
    return {line.split("|")[1].strip(): line for line in [line for line in lines if line.startswith("|")][2:]}


def cells(row):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def check(checkout):
    document = (checkout / "docs" / "guarantees.md").read_text()
    uncovered = tomllib.loads((checkout / "tests" / "mutations" / "uncovered.toml").read_text()).get("promise", [])
    mutations, names, faults = read(checkout), set(), []
    rows, tests = promises(document), functools.cache(functools.partial(tests_of, checkout))
    for mutation in mutations:
        faults += [f"{mutation.name}: {fault}" for fault in faults_of(mutation, checkout, rows, plain(document), tests)]
        if mutation.name in names:
            faults.append(f"{mutation.name} is there twice")
        names.add(mutation.name)
    covered = {row for row in rows if any(begins(row, plain(one.promise)) for one in mutations)}
    excused = {plain(one["text"]) for one in uncovered if one.get("reason")}
    faults += [f"no mutation breaks the promise '{row}'" for row in rows if row not in covered | excused]
    faults += [f"uncovered.toml names '{text}', which " + ("has a mutation" if text in covered else "is not promised")
               for text in sorted(excused) if text in covered or text not in rows]
    results = recorded(checkout).keys()
    faults += [f"results.md has no row for {name}: run `./dev mutate {name} --record`" for name in sorted(names - results)]
    faults += [f"results.md has a row for {name}, which is not defined: run `./dev mutate NAME --record` with a NAME that is"
               for name in sorted(results - names)]
    for fault in faults:
        print("FAILED:", fault)
    print(f"{len(mutations)} mutations of {len(covered)} of {len(rows)} promises, {len(faults)} faults")
    return 1 if faults or not rows else 0


# Running

class Copy:
    """The checkout as it is, without what git ignores, in a folder with a build of its own."""

    def __init__(self, checkout):
        self.checkout, self.folder = checkout, checkout / ".build" / "mutants"
        self.folder.mkdir(parents=True, exist_ok=True)

    def restore(self):
        names = subprocess.run(["git", "-C", self.checkout, "ls-files", "-co", "--exclude-standard", "-z"], check=True,
                               capture_output=True, text=True).stdout.split("\0")
        there = {name for name in names if name and (self.checkout / name).is_file()}
        listing = self.folder / ".build" / "copied"
        earlier = set(listing.read_text().splitlines()) if listing.exists() else set()
        for name in earlier - there:
            (self.folder / name).unlink(missing_ok=True)
        for name in there:
            self.put(name, (self.checkout / name).read_bytes())
            (self.folder / name).chmod((self.checkout / name).stat().st_mode)
        listing.parent.mkdir(exist_ok=True)
        listing.write_text("\n".join(sorted(there)))

    def put(self, name, content):
        """A file that is the same stays as old as it is, so that nothing is built again because of it."""
        path = self.folder / name
        if path.is_file() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def builds(self, programs):
        environment = {name: value for name, value in os.environ.items() if name != "FESTA_RUN_DIR"}
        done = subprocess.run([self.folder / "dev", "build", *sorted(programs)], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.stderr.write(done.stderr)
        return done.returncode == 0

    def failing(self, program, patterns):
        """The names of the tests that failed; None if none ran. A program that crashes or hangs has failed, too."""
        environment = dict(os.environ)
        if "TMPDIR" not in environment and os.access("/dev/shm", os.W_OK):
            environment["TMPDIR"] = "/dev/shm"
        binary = self.folder / ".build" / "release" / "tests" / program
        with subprocess.Popen([binary, f"--gtest_filter={patterns}", "--gtest_color=no"], cwd=self.folder, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              start_new_session=True) as running:
            try:
                text = running.communicate(timeout=PATIENCE)[0]
            except subprocess.TimeoutExpired:
                os.killpg(running.pid, 15)
                running.communicate()
                return [f"{patterns} did not end within {PATIENCE} s"]
        (self.folder / ".build" / "last.log").write_text(text)
        if running.returncode != 0:
            return sorted(set(FAILED.findall(text))) or [f"{patterns} ended with {running.returncode}"]
        return [] if RAN.search(text) else None


class Findings:
    """What was found, on disk after each mutation."""

    def __init__(self, folder, commit):
        self.path, self.commit = folder / "findings.json", commit
        folder.mkdir(parents=True, exist_ok=True)
        self.all = json.loads(self.path.read_text()) if self.path.exists() else {}

    def of(self, mutation):
        found = self.all.get(mutation.name)
        return found if found and found["digest"] == mutation.digest() else None

    def is_done(self, mutation):
        found = self.of(mutation)
        return bool(found and found["commit"] == self.commit)

    def add(self, mutation, verdict, detail, seconds):
        self.all[mutation.name] = {"digest": mutation.digest(), "commit": self.commit, "verdict": verdict, "detail": detail,
                                   "seconds": round(seconds), "date": datetime.date.today().isoformat()}
        self.path.write_text(json.dumps(self.all, indent=1, ensure_ascii=False))

    # Tests that pass without any mutation.

    def passes(self, program, patterns):
        return self.all.get(f"{program} {patterns}", {}).get("commit") == self.commit

    def add_passing(self, program, patterns):
        self.all[f"{program} {patterns}"] = {"commit": self.commit}
        self.path.write_text(json.dumps(self.all, indent=1, ensure_ascii=False))

    def row(self, mutation, earlier):
        """Of what was found here; else `earlier`, the row that is there, if it is of the same mutation."""
        found = self.of(mutation)
        if not found and cells(earlier)[-1:] == [mutation.digest()]:
            return earlier
        found = found or {"verdict": NOT_RUN, "detail": "", "commit": ""}
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in (
            mutation.name, mutation.promise, mutation.what, f"`{mutation.file}`",
            found["verdict"] if found["verdict"] == "killed" else f"**{found['verdict']}**",
            found["detail"], re.sub(r"^\w+", r"`\g<0>`", found["commit"]), mutation.digest())) + " |"

    def table(self, mutations, earlier):
        """`earlier`: recorded(). On a machine that has run some of the mutations, the results of the others stay."""
        rows = [self.row(one, earlier.get(one.name, "")) for one in mutations]
        counts = collections.Counter(cells(row)[4].strip("*") for row in rows)
        return "\n".join(["# What the tests noticed", "", "Written by `./dev mutate --record`. " + MEANING.replace("\n", " "), "",
                          "| mutation | promise | what is broken | where | result | by | commit | digest |", "|---|---|---|---|---|---|---|---|",
                          *rows, "", ", ".join(f"{number} {verdict}" for verdict, number in counts.items()) + "."]) + "\n"


def run_controls(copy, mutations, findings):
    """Without a mutation the tests pass; otherwise their failure says nothing. All of them on one build."""
    targets = {tuple(target) for mutation in mutations for target in mutation.targets()}
    open_ = sorted(target for target in targets if not findings.passes(*target))
    if not open_:
        return
    print(f"{len(open_)} controls, without a mutation", flush=True)
    copy.restore()
    if not copy.builds({program for program, _ in open_}):
        sys.exit("festabook: the checkout does not build.")
    for program, patterns in open_:
        failed = copy.failing(program, patterns)
        if failed == []:
            findings.add_passing(program, patterns)
        else:
            print(f"  {program} {patterns}: " + (", ".join(failed) + " failed" if failed else "no such test ran"), flush=True)


def try_one(copy, mutation, findings):
    """(verdict, detail)"""
    copy.restore()
    text = mutated(mutation, copy.folder)
    if text is None:
        return "does not apply", ""
    bad = [f"{program} {patterns}" for program, patterns in mutation.targets() if not findings.passes(program, patterns)]
    if bad:
        return "control failed", ", ".join(bad)
    copy.put(mutation.file, text.encode())
    if not copy.builds({program for program, _ in mutation.targets()}):
        return "does not build", ""
    seen = []
    for program, patterns in mutation.targets():
        failed = copy.failing(program, patterns)
        if not failed:
            return "survived", f"{program} {patterns}"
        seen.append(failed[0] + (f" and {len(failed) - 1} more" if len(failed) > 1 else ""))
    return "killed", ", ".join(seen)


def commit_of(checkout):
    commit = subprocess.run(["git", "-C", checkout, "rev-parse", "--short=12", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    changed = subprocess.run(["git", "-C", checkout, "status", "--porcelain", "--untracked-files=no"], check=True, capture_output=True,
                             text=True).stdout
    return commit + (" with changes" if changed else "")


def run(checkout, mutations, findings):
    copy = Copy(checkout)
    with open(copy.folder.parent / "mutants.lock", "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("festabook: another ./dev mutate is running in this checkout.")
        run_controls(copy, mutations, findings)
        for number, mutation in enumerate(mutations, start=1):
            print(f"{number}/{len(mutations)} {mutation.name}: {mutation.what}", flush=True)
            began = time.monotonic()
            verdict, detail = try_one(copy, mutation, findings)
            findings.add(mutation, verdict, detail, time.monotonic() - began)
            print(f"  {verdict}{': ' if detail else ''}{detail} ({time.monotonic() - began:.0f} s)", flush=True)
        copy.restore()


def chosen(mutations, names):
    for name in names:
        if not fnmatch.filter([one.name for one in mutations], name):
            sys.exit(f"festabook: there is no mutation '{name}'; ./dev mutate --list names them.")
    return [one for one in mutations if not names or any(fnmatch.fnmatchcase(one.name, name) for name in names)]


def main():
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of mutations, with * and ?; all of them if there is none")
    parser.add_argument("--check", action="store_true", help="build nothing, see that the list is not stale")
    parser.add_argument("--list", action="store_true", help="the names and what they break")
    parser.add_argument("--status", action="store_true", help="run nothing, tell what is known")
    parser.add_argument("--again", action="store_true", help="also what is known of this commit")
    parser.add_argument("--record", action="store_true", help="write tests/mutations/results.md")
    options = parser.parse_args()
    if options.check:
        return check(ROOT)
    mutations = read(ROOT)
    asked = chosen(mutations, options.names)
    if options.list:
        print("\n".join(f"{one.name}: {one.what} ({one.file})" for one in asked))
        return 0
    findings = Findings(pathlib.Path(os.environ.get("FESTA_RUN_DIR") or ROOT / ".run") / "mutations", commit_of(ROOT))
    if not options.status:
        run(ROOT, [one for one in asked if options.again or not findings.is_done(one)], findings)
    if options.record:
        (ROOT / "tests" / "mutations" / "results.md").write_text(findings.table(mutations, recorded(ROOT)))
    bad = [one.name for one in asked if (findings.of(one) or {}).get("verdict") != "killed"]
    print(f"{len(asked) - len(bad)} of {len(asked)} killed" + (f"; look at {', '.join(bad)}" if bad else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
