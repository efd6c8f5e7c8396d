#!/usr/bin/env python3
"""The program that is linked without the lab has nothing of it, says so, and passes the tests of HTTP that are not the lab's: a few of
them, with TEST_SIZE=full all. FESTABOOK: the program; HTTP: the tests; LAB_TESTS: a filter of those that need the lab; LAB and STAND_IN:
the libraries of which it has the second."""

import os
import subprocess
import unittest

PROGRAM, HTTP, LAB, STAND_IN = (os.environ[name] for name in ("FESTABOOK", "HTTP", "LAB", "STAND_IN"))
SMOKE = "AnnouncementApi*:CouponApi*:QuestionApi*:Schedule*:ReservationApi*:Idempotency*:Pages*:Docs*:PinRushInProduction*"
STRONG = "TDBR"  # what only one object file may define


def symbols(file):
    listed = subprocess.run(["nm", "--defined-only", "--format=posix", file], check=True, capture_output=True, text=True).stdout
    return {fields[0] for fields in map(str.split, listed.splitlines()) if len(fields) > 2 and fields[1] in STRONG}


def start(*arguments, **settings):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FESTA")}
    return subprocess.run([PROGRAM, *arguments], env=kept | settings, capture_output=True, text=True)


class WithoutLab(unittest.TestCase):
    def test_it_has_no_symbol_of_the_lab(self):
        of_lab = symbols(LAB) - symbols(STAND_IN)
        self.assertGreater(len(of_lab), 50)
        self.assertEqual(of_lab & symbols(PROGRAM), set())

    def test_a_lab_is_refused(self):
        for arguments in (["--check"], ["strategies", "--needed"], []):
            ended = start(*arguments, FESTA_DEMO="true", FESTA_LAB="true")
            self.assertEqual((ended.returncode, ended.stdout), (1, ""))
            self.assertIn("this program was built without the lab", ended.stderr)
        self.assertEqual(start("--check", FESTA_DEMO="true").returncode, 0)

    def test_there_are_no_commands_of_the_lab(self):
        for arguments in (["seed", "--users", "1"], ["token", "admin"]):
            ended = start(*arguments)
            self.assertEqual((ended.returncode, ended.stdout), (1, ""))
            self.assertIn("this program was built without the lab", ended.stderr)

    def test_it_serves(self):
        wanted = "*" if os.environ.get("TEST_SIZE") == "full" else SMOKE
        tests = subprocess.run([HTTP, f"--gtest_filter={wanted}-{os.environ['LAB_TESTS']}"], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "TEST_SIZE": "usual"})
        self.assertEqual(tests.returncode, 0, tests.stdout[-8000:])
        self.assertRegex(tests.stdout, r"\[  PASSED  \] [1-9]\d+ tests")


if __name__ == "__main__":
    unittest.main()
