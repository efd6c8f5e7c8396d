#!/usr/bin/env python3
"""A storage that has no more than its header, its source, its row and its line of CMake (tests/guest) takes part in the contract
suite, in the rush, in the lab and in the load test, of which the plan is looked at: k6 is not on every machine. Programs: CONTRACT,
RUSH and FESTABOOK with the guest, PLAIN without."""

import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from loadtest.runner import plan, strategies  # noqa: E402

GUEST, MODEL = "guest", "memory"


def tests_of(program, storage):
    """{"Suite.Test"} of those that run for this storage."""
    listed = subprocess.run([program, "--gtest_list_tests"], check=True, capture_output=True, text=True).stdout
    found, suite = set(), ""
    for line in listed.splitlines():
        name = line.split("#")[0].strip()
        if not line.startswith(" "):
            suite = name
        elif name.endswith("/" + storage):
            found.add(suite + name.removesuffix("/" + storage))
    return found


def check(binary, strategy):
    """What `festabook --check` says to a configuration with this strategy; empty: nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FESTA_")}
    settings = {"FESTA_DEMO": "true", "FESTA_LOCK_STRATEGY": strategy}
    return subprocess.run([binary, "--check"], env={**kept, **settings}, capture_output=True, text=True).stderr


class GuestTest(unittest.TestCase):
    def runs(self, program, count):
        done = subprocess.run([program, f"--gtest_filter=*/{GUEST}"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-5000:] + done.stderr[-5000:])
        self.assertIn(f"[  PASSED  ] {count} tests.", done.stdout)

    def test_contract(self):
        program = os.environ["CONTRACT"]
        wanted = {name for name in tests_of(program, MODEL) if name.startswith("Storages/")}
        self.assertLessEqual({"Storages/LockStorageContract", "Storages/FifoLockStorageContract", "Storages/SharedHoldContract"},
                             {name.split(".")[0] for name in wanted})
        self.assertEqual(tests_of(program, GUEST), wanted)
        self.runs(program, len(wanted))

    def test_rush(self):
        program = os.environ["RUSH"]
        wanted = {name for name in tests_of(program, MODEL) if name.startswith("Alone/")}
        self.assertLessEqual({"Alone/SeatRush", "Alone/CouponRush"}, {name.split(".")[0] for name in wanted})
        self.assertEqual(tests_of(program, GUEST), wanted)
        self.runs(program, len(wanted))  # its server is FESTABOOK, as a lab, and its requests wish for the guest

    def test_configuration(self):
        self.assertEqual(check(os.environ["FESTABOOK"], GUEST), "")
        self.assertIn("unknown strategy: " + GUEST, check(os.environ["PLAIN"], GUEST))

    def test_load_test(self):
        table = strategies.read(os.environ["FESTABOOK"])
        self.assertNotIn(GUEST, strategies.read(os.environ["PLAIN"]).names())
        cells = [cell for _, _, block in plan.plan(plan.SCENARIOS, table, (1, 3), False) for cell in block]
        of = lambda name: {(cell.scenario.name, cell.instances, cell.must_fail()) for cell in cells
                           if cell.strategy.name == name and cell.backstop == "off"}
        self.assertEqual(of(GUEST), of(MODEL))
        self.assertEqual({name for name, _, _ in of(GUEST)},
                         {scenario.name for scenario in plan.SCENARIOS if scenario.queues != "only"})


if __name__ == "__main__":
    unittest.main()
