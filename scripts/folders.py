#!/usr/bin/env python3
"""The folders are as the table in CONTRIBUTING.md says: each has a row, none is crowded, and none includes what it may not.
usage: folders.py [checkout]"""
import collections
import pathlib
import re
import subprocess
import sys

CROWDED = 35  # files directly in one folder
ROW = re.compile(r"^\| (`[^|]+`) \|", re.MULTILINE)
INCLUDE = re.compile(r'^#include "((?:app|controllers|services|lock|tests)/[^"]+)"', re.MULTILINE)
# A file may include what its layer, the longest prefix of its path, names here.
MAY_INCLUDE = {
    "lock/": ["lock/"],
    "services/": ["services/"],
    "services/queue/": ["services/queue/", "services/retry_pauses.h"],
    "controllers/": ["controllers/", "services/", "lock/"],
    "app/": ["app/", "controllers/", "services/", "lock/"],
}
LAB = "app/lab/"  # a program may be linked without it


def files(checkout):
    listed = subprocess.run(["git", "-C", checkout, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True,
                            check=True).stdout.split("\n")
    return [name for name in listed if name and (checkout / name).exists()]


def table_faults(checkout, names):
    """Folders with sources of the service, and those of the tests' programs, against the rows of the table."""
    table = {name for cell in ROW.findall((checkout / "CONTRIBUTING.md").read_text())
             for name in re.findall(r"`([\w./]+)/`", cell)}
    folders = {str(pathlib.PurePath(name).parent) for name in names if name.startswith(tuple(MAY_INCLUDE))}
    folders |= {"/".join(name.split("/")[:2]) for name in names if name.startswith("tests/") and name.count("/") > 1}
    folders |= {name.split("/")[0] for name in names if name.count("/") > 0 and not name.startswith(".")} - {"controllers"}
    yield from (f"{folder}/ has no row in the table of CONTRIBUTING.md" for folder in sorted(folders - table))
    yield from (f"CONTRIBUTING.md names {folder}/, which does not exist" for folder in sorted(table - folders))


def crowd_faults(names):
    counts = collections.Counter(str(pathlib.PurePath(name).parent) for name in names)
    for folder, count in sorted(counts.items()):
        if count > CROWDED:
            yield f"{folder}/ has {count} files, at most {CROWDED}: divide it by feature or mechanism"


def include_faults(checkout, names):
    for name in names:
        layer = max((prefix for prefix in MAY_INCLUDE if name.startswith(prefix)), key=len, default=None)
        if layer is None or not name.endswith((".h", ".cc")):
            continue
        for included in INCLUDE.findall((checkout / name).read_text()):
            if included.startswith(LAB) and not name.startswith(LAB):
                yield f"{name} includes {included}: app/lab.h is the only door to {LAB}"
            if not included.startswith(tuple(MAY_INCLUDE[layer])):
                yield f"{name} includes {included}: {layer} may include {', '.join(MAY_INCLUDE[layer])} only"


def faults(checkout):
    names = files(checkout)
    return [*table_faults(checkout, names), *crowd_faults(names), *include_faults(checkout, names)]


if __name__ == "__main__":
    found = faults(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1]))
    print("\n".join(found) or "every folder has its row, its size and its includes as it should")
    sys.exit(1 if found else 0)
