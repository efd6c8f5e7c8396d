#!/usr/bin/env python3
"""Compares the strategies under load and judges what they left in the database; ./dev loadtest starts it."""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from loadtest.runner import cells, faults, plan, pools, strategies  # noqa: E402
from loadtest.runner.lab import LoadLab  # noqa: E402
from loadtest.runner.load import LoadError  # noqa: E402
from loadtest.runner.processes import StartError  # noqa: E402
from loadtest.runner.progress import Progress, duration, summary  # noqa: E402
from loadtest.runner.results import Results  # noqa: E402
from loadtest.runner.service import Tools  # noqa: E402

QUICK_SCALE = 0.1
USERS = 10_000


def parse(arguments, table):
    """`table`: the strategies of the service."""
    names = lambda text: text.split(",")
    parser = argparse.ArgumentParser(prog="./dev loadtest", description=__doc__)
    parser.add_argument("--scenario", type=names, help="only these: " + ", ".join(s.name for s in plan.SCENARIOS))
    parser.add_argument("--strategy", type=names, help="only these: " + ", ".join(table.names()))
    parser.add_argument("--instances", type=names, help="1, 3 or 1,3")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size, in some minutes")
    parser.add_argument("--faults", nargs="?", const="", help="what happens when something fails under load; "
                        "all of: " + ", ".join(fault.name for fault in faults.FAULTS))
    parser.add_argument("--out", type=pathlib.Path, help="where results.json and the report go")
    parser.add_argument("--tokens", type=int, metavar="N", help="print users and tokens for the lab that runs")
    wish = parser.parse_args(arguments)
    for chosen, known in ((wish.scenario, [s.name for s in plan.SCENARIOS]), (wish.strategy, table.names()),
                          (wish.instances, ["1", "3"]), (names(wish.faults or ""), ["", *(f.name for f in faults.FAULTS)])):
        for name in chosen or []:
            if name not in known:
                parser.error(f"'{name}' is none of {', '.join(filter(None, known))}")
    if wish.faults is None and not wish.tokens and not blocks_of(wish, table):
        parser.error("these strategies take no part in these scenarios with so many instances")
    return wish


class Programs:
    """What ./dev has built or found; FESTABOOK is another build of the service."""

    def __init__(self):
        build = ROOT / ".build" / "release"
        self.festabook = pathlib.Path(os.environ.get("FESTABOOK", build / "festabook"))
        self.festabook_next = build / "festabook_next"
        self.history_check = build / "tests" / "history_check"
        self.k6 = os.environ.get("K6", "k6")
        # Before the first build there is none, and only --help is asked for.
        self.strategies = strategies.read(self.festabook) if self.festabook.exists() else strategies.Table()


def blocks_of(wish, table):
    scenarios = [s for s in plan.SCENARIOS if not wish.scenario or s.name in wish.scenario]
    chosen = [s for s in table if not wish.strategy or s.name in wish.strategy]
    instances = [int(number) for number in wish.instances or ("1", "3")]
    return plan.plan(scenarios, chosen, instances, wish.quick, bool(wish.scenario))


def compare(lab, wish, results):
    """True if every strategy that claims to protect did, and every control was seen to fail."""
    blocks = blocks_of(wish, lab.programs.strategies)
    scale = QUICK_SCALE if wish.quick else 1
    progress = Progress(sum(len(block) for _, _, block in blocks))
    measured = {}
    for _, _, block in blocks:
        if not wish.quick:
            cells.warm_up(lab, block[0])
        for cell in block:
            line = measured.setdefault(cell, cells.Measured(cell, len(measured) + 1))
            progress.begin(cell.label())
            cells.run_cell(lab, line, scale)
            progress.end(summary(line))
            results.set_cells([each.to_json() for each in measured.values()])
    for line in measured.values():
        if line.is_blind():
            print(f"blind: {line.cell.label()} was not seen to oversell in {line.rounds} runs")
        if line.is_failure():
            print(f"BROKEN: {line.cell.label()}: " + "; ".join(line.verdict.violations[:3]))
    return all(line.is_good() for line in measured.values())


def run(wish, folder, programs):
    results = Results(wish.out or ROOT / ".run" / "loadtest-results", wish.quick, programs.k6)
    started, good = time.monotonic(), True
    wants = lambda name: not wish.strategy or name in wish.strategy
    has_faults = wish.faults is not None
    rabbitmq = has_faults or any(wants(one.name) for one in programs.strategies if one.needs == "rabbitmq")
    lab = LoadLab(folder, programs, users=USERS // 5 if wish.quick else USERS, rabbitmq=rabbitmq, production=has_faults)
    try:
        print(f"- everything is up after {duration(time.monotonic() - started)}; logs: {lab.processes.logs}")
        if wish.faults is not None:
            good = faults.run(lab, [name for name in wish.faults.split(",") if name], results)
        else:
            good = compare(lab, wish, results)
            if wants("none") and (not wish.scenario or "pins" in wish.scenario):
                results.set("pools", pools.run(lab, wish.quick))
    finally:
        # A second Ctrl-C must not leave servers behind.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        lab.close()
    report = ROOT / "loadtest" / "report.py"
    if report.exists():
        subprocess.run([sys.executable, report, results.file], check=True)
    print(f"{results.file} after {duration(time.monotonic() - started)}")
    return 0 if good else 1


def print_tokens(count):
    """For the lab of ./dev run --lab, whose settings are in LAB_ENV."""
    lines = pathlib.Path(os.environ["LAB_ENV"]).read_text().splitlines()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FESTA_")}
    tools = Tools(ROOT / ".build" / "release" / "festabook", {**kept, **dict(line.split("=", 1) for line in lines)})
    json.dump(tools.tokens(count), sys.stdout)
    return 0


def main(arguments):
    programs = Programs()
    wish = parse(arguments, programs.strategies)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if wish.tokens:
            return print_tokens(wish.tokens)
        return run(wish, os.environ.get("FESTA_RUN_DIR") or ROOT / ".run" / "loadtest", programs)
    except KeyboardInterrupt:
        return 130
    except (StartError, LoadError) as error:
        print(f"festabook: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
