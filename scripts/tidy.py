#!/usr/bin/env python3
"""clang-tidy on what changed and on what includes it.

The record has digests of sources that were found clean; all checkouts of a machine share it. A digest covers what the findings depend
on: the source's path and text, the project's headers that it includes, directly or not, .clang-tidy, and the version of clang-tidy.
--all looks at everything, whatever the record says."""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys

MAX_RECORDED = 10_000  # digests; the ones that were seen last are kept
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def sources():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "app/*.cc", "controllers/*.cc", "services/*.cc",
                             "lock/*.cc"], capture_output=True, text=True, check=True).stdout.split()
    return sorted(path for path in listed if os.path.exists(path))


def closure(path, includes):
    """The file and the headers of ours that it includes, directly or not."""
    seen, todo = set(), [path]
    while todo:
        file = todo.pop()
        if file in seen:
            continue
        seen.add(file)
        if file not in includes:
            text = pathlib.Path(file).read_text()
            includes[file] = (text, [name for name in INCLUDE.findall(text) if os.path.exists(name)])
        todo.extend(includes[file][1])
    return sorted(seen)


def digests():
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout
    common = re.search(r"version (\S+)", version).group(1) + pathlib.Path(".clang-tidy").read_text()
    includes, result = {}, {}
    for source in sources():
        digest = hashlib.sha256(common.encode())
        for file in closure(source, includes):
            digest.update(f"\0{file}\0{includes[file][0]}".encode())
        result[source] = digest.hexdigest()[:16]
    return result


def recorded(record):
    """Digests, in the order in which they were last seen."""
    return record.read_text().split() if record.exists() else []


def keep(record, clean):
    """Read anew, because another checkout may have written it meanwhile."""
    digests_kept = [digest for digest in recorded(record) if digest not in clean] + sorted(clean)
    new = record.with_suffix(f".{os.getpid()}")
    new.write_text("".join(f"{digest}\n" for digest in digests_kept[-MAX_RECORDED:]))
    new.replace(record)


def check(build, source):
    run = subprocess.run(["clang-tidy", "--quiet", "-p", build, source], capture_output=True, text=True, check=False)
    return source, run.returncode, run.stdout + (run.stderr if run.returncode else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true", help="all sources, whatever the record says")
    parser.add_argument("build", help="a build folder with compile_commands.json")
    parser.add_argument("record", type=pathlib.Path, help="where the digests of clean sources are kept")
    arguments = parser.parse_args()
    now, known = digests(), set(recorded(arguments.record))
    todo = [source for source in now if arguments.all or now[source] not in known]
    print(f"{len(todo)} of {len(now)} sources to look at", flush=True)
    failed = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, (source, code, text) in enumerate(pool.map(lambda one: check(arguments.build, one), todo), 1):
            print(f"[{done}/{len(todo)}] {source}", flush=True)
            if code:
                failed.append(source)
                print(text, flush=True)
    keep(arguments.record, {digest for source, digest in now.items() if source not in failed})
    if failed:
        sys.exit("clang-tidy has found something in " + " ".join(failed))


if __name__ == "__main__":
    main()
