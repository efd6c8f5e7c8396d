#!/usr/bin/env python3
"""What the documents say of each other is so. usage: docs_test.py <checkout> <version>"""
import pathlib
import re
import subprocess
import sys

LONGEST_README = 150
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
FOLDERS = "app|cmake|controllers|docker|docs|examples|loadtest|lock|migrations|scripts|services|tests"
FILE = re.compile(rf"(?:{FOLDERS})/[\w./-]*\w\.(?:cc|cmake|h|js|json|lua|md|mjs|patch|png|py|sh|sql|yml)")
TEST = re.compile(r"(\w+)\.([A-Z]\w+)(…?)")
COMMAND = re.compile(r"\./dev ([a-z][a-z-]*)(?: (--[a-z-]+))?")


def anchors(text):
    """As GitHub makes them of headings."""
    for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def listed(checkout, pattern):
    command = ["git", "-C", checkout, "ls-files", "-co", "--exclude-standard", pattern]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def broken_links(checkout):
    for name in listed(checkout, "*.md"):
        path = checkout / name
        for link in LINK.findall(FENCE.sub("", path.read_text())):
            if re.match(r"[a-z]+:", link):
                continue
            target, _, anchor = link.partition("#")
            to = (path.parent / target).resolve() if target else path
            if not to.exists():
                yield f"{name}: {link} leads nowhere"
            elif anchor and anchor not in anchors(to.read_text()):
                yield f"{name}: {link}: there is no such heading"


def tests_of(checkout):
    """{suite: names of its tests}"""
    tests = {}
    for name in listed(checkout, "tests/*.cc"):
        path = checkout / name
        if path.exists():
            for suite, test in re.findall(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", path.read_text(), re.MULTILINE):
                tests.setdefault(suite, set()).add(test)
    return tests


def is_file(checkout, document, name):
    """In the checkout, beside the document, or one that is made and ignored by git."""
    return (checkout / name).exists() or ((checkout / document).parent / name).exists() or subprocess.run(
        ["git", "-C", checkout, "check-ignore", "-q", name]).returncode == 0


def unknown_names(checkout):
    """Files and tests that a document names and that do not exist. `Suite.Name…` is the beginning of a test's name."""
    tests = tests_of(checkout)
    for name in listed(checkout, "*.md"):
        for code in CODE.findall(FENCE.sub("", (checkout / name).read_text())):
            if FILE.fullmatch(code) and not is_file(checkout, name, code):
                yield f"{name}: there is no file {code}"
            test = TEST.fullmatch(code)
            if test and test[1] in tests and not any(
                    known.startswith(test[2]) if test[3] else known == test[2] for known in tests[test[1]]):
                yield f"{name}: there is no test {code}"


def unknown_commands(checkout):
    """What a document tells to type, with its first option, is known to `./dev help`."""
    known = subprocess.run([checkout / "dev", "help"], capture_output=True, text=True, check=True).stdout
    commands = {}
    for line in known.split("\n"):
        match = COMMAND.match(line)
        current = commands.setdefault(match[1], set()) if match else commands.get("", set())
        if match:
            commands[""] = current  # the options below a command are its own
        current.update(re.findall(r"--[a-z-]+", line))
    for name in listed(checkout, "*.md"):
        text = (checkout / name).read_text()
        code = "\n".join([*FENCE.findall(text), *CODE.findall(FENCE.sub("", text))])
        for command, option in COMMAND.findall(code):
            if command not in commands or (option and option not in commands[command]):
                yield f"{name}: ./dev has no '{command} {option}'"


def headings(path):
    return [line.split(" ")[0] for line in FENCE.sub("", path.read_text()).split("\n") if line.startswith("#")]


def findings(checkout, version):
    yield from broken_links(checkout)
    yield from unknown_names(checkout)
    yield from unknown_commands(checkout)
    for name in ("README.md", "README.ko.md"):
        lines = len((checkout / name).read_text().split("\n"))
        if lines > LONGEST_README:
            yield f"{name} has {lines} lines"
    if headings(checkout / "README.md") != headings(checkout / "README.ko.md"):
        yield "README.ko.md has other sections than README.md"
    newest = re.search(r"^## (\S+?),? ", (checkout / "CHANGELOG.md").read_text(), re.MULTILINE)
    if not newest or newest[1].rstrip(",") != version:
        yield f"CHANGELOG.md does not begin with {version}"


def main():
    checkout = pathlib.Path(sys.argv[1]).resolve()
    found = list(findings(checkout, sys.argv[2]))
    for line in found:
        print("FAILED:", line)
    print(f"{0 if found else 1} passed, {len(found)} failed")
    return 1 if found else 0


sys.exit(main())
