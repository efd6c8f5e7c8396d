#!/usr/bin/env python3
"""The ten slowest tests of the last ctest run in a build folder, and at the very end what failed and why.

CTest's own summary names programs; these programs hold hundreds of tests each. Their whole output would bury the one that failed."""
import collections
import pathlib
import re
import sys

ENDED = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?),? .*\((\d+) ms\)$")
BEGUN = re.compile(r"^\[ RUN +\] (\S+)$")
SUITE_BEGUN = re.compile(r"^\[-+\] \d+ tests? from ([^\s,]+)(?:, where .*)?$")
ALL_ENDED = re.compile(r"^\[=+\] .* ran\.")
OF_GTEST = re.compile(r"^\[(?:[-=]+|  [A-Z]+ +)\]")
PROGRAM = re.compile(r"^\d+/\d+ Test: (\S+)$")
PROGRAM_FAILED = re.compile(r"^Test (?:Failed\.|Fail Reason:)$")
PROGRAM_TOOK = re.compile(r"^Test time = +([\d.]+) sec$")
PROGRAM_SAID = "<end of output>"
SANITIZER = re.compile(r"\b(?:ERROR|WARNING): \w+Sanitizer: ")
FAILURE = re.compile(r": Failure$")
MOST_LINES = 60  # of one failed test
MOST_LOG_LINES = 20  # among them, of the services that it started
LAST_LINES = 20  # among them, where they begin with a failure that is further up


def read(log):
    """Yields (program, test, milliseconds or None, failed, its lines). The test is "" where a program failed of whose tests none has.
    What failed outside any test, such as TearDownTestSuite, has its place for a name."""
    program, test, lines, explained, place, outside, took = "", None, [], False, "", {}, "0"
    last = collections.deque(maxlen=MOST_LINES)
    for line in log.read_text(errors="replace").splitlines():
        if match := PROGRAM.match(line):
            program, test, lines, explained, place, outside = match[1], None, [], False, "", {}
            last.clear()
        elif PROGRAM_FAILED.match(line):
            for where, said in outside.items():
                if first_failure(said) is not None:
                    yield program, where, None, True, said
                    explained = True
            if test:
                yield program, test, None, True, [*lines, f"The program ended inside this test, after {took} s; at its time limit it is ended."]
            elif not explained:
                yield program, "", None, True, list(last)
            test, explained = None, True
        elif match := PROGRAM_TOOK.match(line):
            took = match[1]
        elif match := BEGUN.match(line):
            test, lines = match[1], []
        elif test and (match := ENDED.match(line)):
            explained = explained or match[1] == "FAILED"
            yield program, test, int(match[3]), match[1] == "FAILED", lines
            test, place = None, f"after {test}"
        elif test:
            lines.append(line)
        elif line == PROGRAM_SAID:
            place = ""
        elif OF_GTEST.match(line):
            if match := SUITE_BEGUN.match(line):
                place = f"before the first test of {match[1]}"
            elif ALL_ENDED.match(line):
                place = "after the last test"
            else:
                place = place or "before the first test"
        elif place:
            outside.setdefault(place, []).append(line)
        last.append(line)


def first_failure(lines):
    """The number of the line where a sanitizer's report begins, or else a failure of GoogleTest; None if neither is there."""
    return next((i for what in (SANITIZER, FAILURE) for i, line in enumerate(lines) if what.search(line)), None)


def worth_reading(lines):
    """The last ones, and the first ones of a report that is longer; a service's log does not push out what the test itself said."""
    is_log = [line.lstrip().startswith('{"time"') for line in lines]
    kept_log = set([i for i, log in enumerate(is_log) if log][-MOST_LOG_LINES:])
    kept = [line for i, line in enumerate(lines) if not is_log[i] or i in kept_log]
    first = first_failure(kept)
    if first is None or first >= len(kept) - MOST_LINES:
        return kept[-MOST_LINES:]
    return [*kept[first:first + MOST_LINES - LAST_LINES], "…", *kept[-LAST_LINES:]]


def named(program, test):
    return f"{program}: {test}" if test else program


def main(folder):
    log = pathlib.Path(folder) / "Testing/Temporary/LastTest.log"
    if not log.exists():
        return
    tests = list(read(log))
    print("the ten slowest tests:")
    for program, test, took, _, _ in sorted((one for one in tests if one[2] is not None), key=lambda one: -one[2])[:10]:
        print(f"  {took / 1000:6.1f} s  {program}: {test}")
    failed = [one for one in tests if one[3]]
    for program, test, _, _, lines in failed:
        print(f"\nFAILED {named(program, test)}")
        for line in worth_reading(lines):
            print("  " + line[:400])
    if failed:
        print("\nfailed: " + ", ".join(named(program, test) for program, test, _, _, _ in failed))


if __name__ == "__main__":
    main(sys.argv[1])
