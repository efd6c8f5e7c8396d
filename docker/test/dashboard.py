#!/usr/bin/env python3
"""dashboard.py <dashboard.json> <metrics> <source…>: every metric that the dashboard asks for exists.

Metrics of faults appear in /metrics with the first fault: those must at least be named in the sources, and are listed.
"""
import json
import re
import sys


def main(dashboard, metrics, *sources):
    with open(dashboard, encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    asked = set()
    for panel in panels:
        for target in panel["targets"]:
            asked |= set(re.findall(r"\bfesta_\w+", target["expr"]))
    if not asked:
        sys.exit("the dashboard asks for nothing")
    with open(metrics, encoding="utf-8") as file:
        there = set(re.findall(r"^(festa_\w+)", file.read(), re.MULTILINE))
    missing = sorted(asked - there)
    text = "".join(open(source, encoding="utf-8").read() for source in sources)
    unknown = [name for name in missing if f'"{name}"' not in text]
    print(f"{len(panels)} panels, {len(asked)} metrics; not seen yet: {missing}")
    if unknown:
        sys.exit(f"no source of the service counts {unknown}")


if __name__ == "__main__":
    main(*sys.argv[1:])
