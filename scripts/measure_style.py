#!/usr/bin/env python3
"""How the code is built, in figures: sizes, functions, comments, indirection. usage: measure_style.py [--check] [--files] [folder…]

Counts lines as they stand (the code is formatted by clang-format, on which the finding of functions relies). A use of an alias
of std::function or std::shared_ptr counts as one of these. --check fails where a limit is exceeded, --files says where indirection is."""
import pathlib
import re
import statistics
import subprocess
import sys

FOLDERS = ["app", "controllers", "services", "lock"]
LIMITS = {"std::function": 1.5, "shared_ptr": 6.0, "std::any": 0.0}  # per 1,000 lines of all folders
LONGEST_FUNCTION = 60
NO_FUNCTION = re.compile(r"\s*(namespace|class|struct|enum|union|if|else|for|while|switch|do|try|catch|return|co_return|extern)\b")
LAMBDA = re.compile(r"\[[^\]]*\]\s*[({]")
COMMENT = re.compile(r"//.*")
STRING = re.compile(r'"(\\.|[^"\\])*"')


def files(folder):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", folder], capture_output=True, text=True, check=True)
    return [pathlib.Path(path) for path in listed.stdout.split() if path.endswith((".h", ".cc")) and pathlib.Path(path).exists()]


def code(text):
    """Without comments, texts and raw strings: what is left are the language's own words."""
    text = re.sub(r'R"\w*\((.|\n)*?\)\w*"', '""', text)
    return "\n".join(COMMENT.sub("", STRING.sub('""', line)) for line in text.split("\n"))


def functions(text):
    """(lines, decisions + 1) of each function."""
    lines = code(text).split("\n")
    for at, line in enumerate(lines):
        if not line.rstrip().endswith("{"):
            continue
        first = at
        while first > 0 and lines[first - 1].strip() and not re.search(r"[;{}]$|^\s*(public|private|protected):$|^#",
                                                                       lines[first - 1].rstrip()):
            first -= 1
        head = " ".join(lines[first:at + 1])
        before = head.split("(")[0]
        if ")" not in head or NO_FUNCTION.match(head) or "=" in before or LAMBDA.search(head):
            continue
        indent = len(lines[first]) - len(lines[first].lstrip())
        last = next((i for i in range(at + 1, len(lines)) if lines[i].startswith(" " * indent + "}")), at)
        body = "\n".join(lines[first:last + 1])
        yield last - first + 1, 1 + len(re.findall(r"\b(?:if|for|while|case|catch)\b|&&|\|\||\?", body))


class Indirection:
    """Uses of a type and of its aliases. An alias of a class counts in the files of that name, and elsewhere behind `::`; one of
    a namespace counts everywhere."""

    def __init__(self, of, texts):
        self.of = of
        self.everywhere, self.local = set(), {}
        pattern = re.compile(r"^( *)using (\w+) =\s+(?:std::)?" + of.removeprefix("std::") + r"\b", re.MULTILINE)
        for path, text in texts.items():
            for indent, name in pattern.findall(text):
                if indent:
                    self.local.setdefault(path.stem, set()).add(name)
                else:
                    self.everywhere.add(name)

    def count(self, path, text):
        here = self.everywhere | self.local.get(path.stem, set())
        others = {name for stem, names in self.local.items() if stem != path.stem for name in names} - here
        count = len(re.findall(r"\b" + re.escape(self.of) + r"\b", text))
        if here:
            count += len(re.findall(r"(?<!using )\b(?:" + "|".join(sorted(here)) + r")\b", text))
        if others:
            count += len(re.findall(r"\w::(?:" + "|".join(sorted(others)) + r")\b(?!::)", text))
        return count


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0


def measure(paths, kinds):
    texts = {path: path.read_text() for path in paths}
    plain = {path: code(text) for path, text in texts.items()}
    headers = [texts[path].count("\n") for path in paths if path.suffix == ".h"]
    sources = [texts[path].count("\n") for path in paths if path.suffix == ".cc"]
    found = [one for text in texts.values() for one in functions(text)]
    lengths = [lines for lines, _ in found]
    decisions = [number for _, number in found]
    commented = [line for path in paths if path.suffix == ".h" for line in texts[path].split("\n")]
    lines = sum(headers) + sum(sources)
    row = {
        "lines": lines,
        "header median / p90": f"{statistics.median(headers):.0f} / {percentile(headers, 0.9)}",
        "source median / max": f"{statistics.median(sources):.0f} / {max(sources)}",
        "function median / p90 / max": f"{statistics.median(lengths):.0f} / {percentile(lengths, 0.9)} / {max(lengths)}",
        "decisions per function, mean / max": f"{statistics.mean(decisions):.1f} / {max(decisions)}",
        "comments in headers": f"{100 * sum('//' in line for line in commented) / len(commented):.0f} %",
    }
    for kind in kinds:
        row[f"{kind.of} per 1,000 lines"] = sum(kind.count(path, text) for path, text in plain.items()) * 1000 / lines
    return row, max(lengths)


def main(arguments):
    folders = [argument for argument in arguments if not argument.startswith("--")] or FOLDERS
    paths = {folder: files(folder) for folder in folders}
    texts = {path: code(path.read_text()) for all_paths in paths.values() for path in all_paths}
    kinds = [Indirection(of, texts) for of in LIMITS]
    if "--files" in arguments:
        for kind in kinds:
            for path in sorted(texts, key=lambda one: -kind.count(one, texts[one])):
                if kind.count(path, texts[path]):
                    print(f"{kind.of} {kind.count(path, texts[path]):3} {path}")
    columns = {folder: measure(all_paths, kinds)[0] for folder, all_paths in paths.items()}
    whole, longest = measure(list(texts), kinds)
    columns["all"] = whole
    print("| | " + " | ".join(columns) + " |\n|---" + "|---" * len(columns) + "|")
    for key in whole:
        cells = [column[key] for column in columns.values()]
        print(f"| {key} | " + " | ".join(f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |")
    failed = [f"{of}: {whole[f'{of} per 1,000 lines']:.1f} per 1,000 lines, at most {limit}"
              for of, limit in LIMITS.items() if whole[f"{of} per 1,000 lines"] > limit]
    if longest > LONGEST_FUNCTION:
        failed.append(f"the longest function has {longest} lines, at most {LONGEST_FUNCTION}")
    if "--check" in arguments and failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main(sys.argv[1:])
