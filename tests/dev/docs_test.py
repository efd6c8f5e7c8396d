#!/usr/bin/env python3
"""What the documents say of each other is so. usage: docs_test.py <checkout> <version>"""
import pathlib
import re
import subprocess
import sys
import tomllib

LONGEST_README = 150
LONGEST_LINE = 119
MADE = ("docs/configuration.md", "docs/strategies.md", "tests/mutations/results.md")  # by programs, which do not wrap
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
FOLDERS = "app|cmake|controllers|docker|docs|examples|loadtest|lock|migrations|scripts|services|tests"
FILE = re.compile(rf"(?:{FOLDERS})/[\w./-]*\w\.(?:cc|cmake|h|js|json|lua|md|mjs|patch|png|py|sh|sql|yml)")
TEST = re.compile(r"(\w+)\.([A-Z]\w+)(…?)")
BLOCK = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# How a line begins that people type.
TYPED = re.compile(r"^\s*(?:\$ |\./|(?:curl|cmake|docker|k6|npm|git|psql|python3|sudo|apt-get) |[A-Z][A-Z0-9_]*=\S+ )", re.MULTILINE)
COMMAND = re.compile(r"\./dev ([a-z][a-z-]*)(?: (--[a-z-]+))?")


def anchors(text):
    """As GitHub makes them of headings."""
    for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def listed(checkout, pattern):
    command = ["git", "-C", checkout, "ls-files", "-co", "--exclude-standard", pattern]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def documents(checkout):
    return [name for name in listed(checkout, "*.md") if (checkout / name).exists()]


def broken_links(checkout):
    for name in documents(checkout):
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
    for name in documents(checkout):
        if name == "tests/mutations/results.md":
            continue  # each row speaks of the commit that it names
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
    for name in documents(checkout):
        text = (checkout / name).read_text()
        code = "\n".join([*FENCE.findall(text), *CODE.findall(FENCE.sub("", text))])
        for command, option in COMMAND.findall(code):
            if command not in commands or (option and option not in commands[command]):
                yield f"{name}: ./dev has no '{command} {option}'"


def is_shell(text):
    return subprocess.run(["bash", "-n", "-c", text], capture_output=True).returncode == 0


def commands_in(block):
    """The commands of a block, without comments. One that has no end in its line goes on in the next."""
    command = ""
    for line in block.split("\n"):
        command += ("\n" if command else "") + re.sub(r"(^|\s+)# .*$", "", line).rstrip()
        if command and is_shell(command):
            yield command
            command = ""
    if command:
        yield command


def is_run_by(checkout, entry):
    """The script that runs a listed command knows it."""
    text = (checkout / entry["by"]).read_text() if (checkout / entry["by"]).is_file() else ""
    return " ".join(entry["command"].split()[:2]) in text


def steps_of(checkout):
    """{step of ./dev handover: its command}"""
    found = re.findall(r'^    "(\w+)": \[(.*)\],$', (checkout / "scripts/handover.py").read_text(), re.MULTILINE)
    return {name: " ".join(re.findall(r'"([^"]*)"', words)) for name, words in found}


def wrong_entries(checkout, known):
    """Of the list itself: scripts and steps that do not exist, and what no document shows any more."""
    steps = steps_of(checkout)
    for entry in known["listed"]:
        if "by" in entry and not is_run_by(checkout, entry):
            yield f"commands.toml: {entry['by']} does not run '{entry['command']}'"
        if "step" in entry and not f"{steps.get(entry['step'])} ".startswith(entry["command"] + " "):
            yield f"commands.toml: ./dev handover has no step '{entry['step']}' that runs '{entry['command']}'"
        if "instead" in entry and entry["instead"] not in steps:
            yield f"commands.toml: ./dev handover has no step '{entry['instead']}'"
        if "by" not in entry and not entry.get("reason"):
            yield f"commands.toml: nothing is said of why no test runs '{entry['command']}'"
    for entry in known["pasted"]:
        test = checkout / entry["by"]
        if not test.is_file() or entry["document"] not in test.read_text():
            yield f"commands.toml: {entry['by']} does not paste {entry['document']}"


def unclassified_commands(checkout):
    """Every command of a fenced block is pasted by a test, or tests/dev/commands.toml says what runs it, or why nothing does."""
    known = tomllib.loads((checkout / "tests/dev/commands.toml").read_text())
    yield from wrong_entries(checkout, known)
    excused, shown, pasted = {entry["command"] for entry in known["listed"]}, set(), set()
    for name in documents(checkout):
        for language, block in BLOCK.findall((checkout / name).read_text()):
            if language != "sh":
                if TYPED.search(block):
                    yield f"{name}: a block with commands is not marked as sh: {block.splitlines()[0]}"
                continue
            if not is_shell(block):
                yield f"{name}: not a command of a shell: {block.splitlines()[0]}"
            tests = [entry["begins"] for entry in known["pasted"] if entry["document"] == name and block.startswith(entry["begins"])]
            pasted.update((name, begins) for begins in tests)
            shown.update(commands_in(block) if not tests else ())
            yield from (f"{name}: tests/dev/commands.toml does not say what runs '{command}'"
                        for command in (commands_in(block) if not tests else ()) if command not in excused)
    yield from (f"commands.toml: no document shows '{command}'" for command in sorted(excused - shown))
    yield from (f"commands.toml: {entry['document']} has no block that begins with {entry['begins']}" for entry in known["pasted"]
                if (entry["document"], entry["begins"]) not in pasted)


def wide_lines(checkout):
    for name in documents(checkout):
        if name not in MADE:
            yield from (f"{name}:{number} has {len(line)} characters, more than {LONGEST_LINE}"
                        for number, line in enumerate((checkout / name).read_text().split("\n"), 1) if len(line) > LONGEST_LINE)


def headings(path):
    return [line.split(" ")[0] for line in FENCE.sub("", path.read_text()).split("\n") if line.startswith("#")]


def findings(checkout, version):
    yield from broken_links(checkout)
    yield from unknown_names(checkout)
    yield from unknown_commands(checkout)
    yield from unclassified_commands(checkout)
    yield from wide_lines(checkout)
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
