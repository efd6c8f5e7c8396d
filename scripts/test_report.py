#!/usr/bin/env python3
"""The ten slowest tests of the last ctest run in a build folder, and at the very end what failed and why.

CTest's own summary names programs; these programs hold hundreds of tests each. Their whole output would bury the one that failed."""
import collections
import pathlib
import re
import sys

ENDED = re.compile(r"^\[ +(OK|FAILED) +\] (\S+?),? .*\((\d+) ms\)$")
BEGUN = re.compile(r"^\[ RUN +\] (\S+)$")
PROGRAM = re.compile(r"^\d+/\d+ Test: (\S+)$")
PROGRAM_FAILED = re.compile(r"^Test Failed\.$")
MOST_LINES = 60  # of one failed test
MOST_LOG_LINES = 20  # among them, of the services that it started


def read(log):
    """Yields (program, test, milliseconds or None, failed, its lines). The test is "" where a program failed of whose tests none has."""
    program, test, lines, explained = "", None, [], False
    last = collections.deque(maxlen=MOST_LINES)
    for line in log.read_text(errors="replace").splitlines():
        if match := PROGRAM.match(line):
            program, test, lines, explained = match[1], None, [], False
            last.clear()
        elif PROGRAM_FAILED.match(line):
            if test:
                yield program, test, None, True, lines  # the program ended inside it
            elif not explained:
                yield program, "", None, True, list(last)
            test, explained = None, True
        elif match := BEGUN.match(line):
            test, lines = match[1], []
        elif test and (match := ENDED.match(line)):
            explained = explained or match[1] == "FAILED"
            yield program, test, int(match[3]), match[1] == "FAILED", lines
            test = None
        elif test:
            lines.append(line)
        last.append(line)


def worth_reading(lines):
    """The last ones; a service's log does not push out what the test itself said."""
    is_log = [line.lstrip().startswith('{"time"') for line in lines]
    kept_log = set([i for i, log in enumerate(is_log) if log][-MOST_LOG_LINES:])
    return [line for i, line in enumerate(lines) if not is_log[i] or i in kept_log][-MOST_LINES:]


def named(program, test):
    return f"{program}: {test}" if test else program


def main(folder):
    log = pathlib.Path(folder) / "Testing/Temporary/LastTest.log"
    if not log.exists():
        return
    tests = list(read(log))
    print("the ten slowest tests:")
    for program, test, took, _, _ in sorted((one for one in tests if one[1]), key=lambda one: -(one[2] or 0))[:10]:
        print(f"  {(took or 0) / 1000:6.1f} s  {program}: {test}")
    failed = [one for one in tests if one[3]]
    for program, test, _, _, lines in failed:
        print(f"\nFAILED {named(program, test)}")
        for line in worth_reading(lines):
            print("  " + line[:400])
    if failed:
        print("\nfailed: " + ", ".join(named(program, test) for program, test, _, _, _ in failed))


if __name__ == "__main__":
    main(sys.argv[1])
