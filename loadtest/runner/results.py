"""results.json: what report.py reads."""

import datetime
import itertools
import json
import os
import pathlib
import platform
import re
import subprocess

from .processes import ROOT


def _said(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout
    except OSError:
        return ""


def _version(*command):
    found = re.search(r"\d+\.\d+(?:\.\d+)?", _said(*command))
    return found[0] if found else None


def machine(k6):
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())
    return {
        "cpu": cpu[1] if cpu else platform.machine(), "cores": os.cpu_count(),
        "memory_gb": round(int(memory[1]) / 2**20, 1), "kernel": platform.release(),
        "versions": {"postgresql": _version("psql", "--version"),
                     "redis": _version("redis-server", "--version"),
                     "rabbitmq": _version("dpkg-query", "-W", "-f", "${Version}", "rabbitmq-server"),
                     "k6": _version(k6, "version"), "proxy": "HAProxy " + (_version("haproxy", "-v") or "?")}}


def commit():
    name = _said("git", "rev-parse", "--short=12", "HEAD").strip()
    # The kept results may be what this run is writing, and the document says what others have found.
    changed = _said("git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/benchmarks.md").strip()
    return name + ("+changes" if name and changed else "")


class Results:
    """Written after every line: an interrupted run keeps what it has. What this run does not make is kept from the file if
    it is of the same commit and size; a file of another one is kept beside it, named after them."""

    def __init__(self, folder, quick, k6):
        self.file = pathlib.Path(folder) / "results.json"
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.content = {"commit": commit(), "date": datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds"),
                        "quick": quick, "machine": machine(k6), "cells": [], "pools": [], "faults": []}
        if self.file.exists():
            old = json.loads(self.file.read_text())
            if (old["commit"], old["quick"]) == (self.content["commit"], quick):
                self.content |= {part: old[part] for part in ("cells", "pools", "faults")}
            else:
                self.file.replace(self._beside(old))

    def _beside(self, old):
        """A name that no file has."""
        name = f"results.{old['commit'] or 'unknown'}.{'quick' if old['quick'] else 'full'}"
        names = itertools.chain([name], (f"{name}.{number}" for number in itertools.count(2)))
        return next(file for one in names if not (file := self.file.with_name(f"{one}.json")).exists())

    def set_cells(self, lines):
        """Cells that were run again take the place of the older ones; the others stay."""
        which = lambda line: tuple(line[name] for name in ("scenario", "strategy", "backstop", "instances", "workers"))
        new = {which(line): line for line in lines}
        old = {which(line): line for line in self.content["cells"]}
        self.set("cells", [new.get(name, line) for name, line in old.items()]
                 + [line for name, line in new.items() if name not in old])

    def set(self, part, lines):
        self.content[part] = lines
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.content, indent=1, ensure_ascii=False) + "\n")
        new.replace(self.file)
