#!/usr/bin/env python3
"""What is said at the end of a run names each test that failed, and why. usage: report_test.py <checkout>"""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(sys.argv.pop(1)) / "scripts"))
import test_report  # noqa: E402


def program(name, output, passed):
    rule = "-" * 58
    return "\n".join([f"1/1 Testing: {name}", f"1/1 Test: {name}", f'Command: "{name}"', "Output:", rule, *output, "<end of output>", "Test time =  12.34 sec", rule,
                      "Test Passed." if passed else "Test Failed.", f'"{name}" end time: today', ""])


def said(*programs):
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "Testing/Temporary/LastTest.log"
        log.parent.mkdir(parents=True)
        log.write_text("\n".join(programs))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            test_report.main(folder)
        return out.getvalue()


GOOD = ["[ RUN      ] Suite.Good", "quiet", "[       OK ] Suite.Good (7 ms)"]
BAD = ["[ RUN      ] Suite.Bad", "it was 3", "[  FAILED  ] Suite.Bad (9000 ms)"]
BEGIN, END = "[----------] 2 tests from Suite", "[----------] 2 tests from Suite (9 ms total)"
NEXT = ["[----------] 1 test from Next/Other, where TypeParam = int", "[ RUN      ] Next/Other.Good", "[       OK ] Next/Other.Good (7 ms)"]
LEAK = ["/t/service.cc:93: Failure", "Expected: true", "==7==ERROR: LeakSanitizer: detected memory leaks", "SUMMARY: 8 byte(s) leaked"]


class Report(unittest.TestCase):
    def test_a_failed_test_is_named_with_what_it_said(self):
        text = said(program("http", GOOD + BAD, False))
        self.assertIn("FAILED http: Suite.Bad\n  it was 3\n", text)
        self.assertTrue(text.endswith("\nfailed: http: Suite.Bad\n"), text)
        self.assertNotIn("quiet", text)

    def test_the_slowest_come_first(self):
        text = said(program("http", GOOD + BAD, False))
        self.assertLess(text.index("9.0 s  http: Suite.Bad"), text.index("0.0 s  http: Suite.Good"))

    def test_a_test_that_ends_its_program_has_failed(self):
        text = said(program("http", GOOD + ["[ RUN      ] Suite.Crash", "stack"], False), program("unit", GOOD, True))
        self.assertIn("FAILED http: Suite.Crash\n  stack\n", text)
        self.assertIn("The program ended inside this test, after 12.34 s", text)
        self.assertTrue(text.endswith("failed: http: Suite.Crash\n"), text)

    def test_a_program_that_fails_without_a_failed_test_shows_its_last_lines(self):
        text = said(program("docs", ["a page is missing"], False), program("leaky", GOOD + ["detected memory leaks"], False))
        self.assertIn("FAILED docs\n", text)
        self.assertIn("  a page is missing\n", text)
        self.assertIn("  detected memory leaks\n", text)
        self.assertTrue(text.endswith("failed: docs, leaky\n"), text)

    def test_a_program_that_fails_for_what_it_said_is_told(self):
        told = program("threads", ["Running 0 tests from 0 test suites."], False)
        text = said(told.replace("Test Failed.", "Test Fail Reason:\nError regular expression found in output. Regex=[Running 0 tests]"))
        self.assertIn("FAILED threads\n", text)
        self.assertTrue(text.endswith("failed: threads\n"), text)

    def test_a_failure_after_the_tests_of_a_suite_is_told_beside_those_of_tests(self):
        text = said(program("http", [BEGIN, *GOOD, *BAD, *LEAK, END, "", *NEXT], False))
        self.assertIn("FAILED http: Suite.Bad\n  it was 3\n", text)
        self.assertIn("FAILED http: after Suite.Bad\n  " + "\n  ".join(LEAK) + "\n", text)
        self.assertTrue(text.endswith("failed: http: Suite.Bad, http: after Suite.Bad\n"), text)

    def test_a_failure_before_a_test_is_told_although_the_program_goes_on(self):
        start = ["Running main() from gtest_main.cc", "[==========] Running 2 tests from 1 test suite.",
                 "[----------] Global test environment set-up.", "/t/environment.cc:1: Failure", BEGIN, *GOOD, END]
        text = said(program("http", [*start, NEXT[0], "unknown file: Failure", "no server", *NEXT[1:]], False))
        self.assertIn("FAILED http: before the first test\n  /t/environment.cc:1: Failure\n", text)
        self.assertIn("FAILED http: before the first test of Next/Other\n  unknown file: Failure\n  no server\n", text)
        self.assertNotIn("Running main", text)

    def test_a_leak_that_is_found_at_the_end_of_the_program_is_told(self):
        ended = "[==========] 2 tests from 1 test suite ran. (9 ms total)"
        text = said(program("lock", [BEGIN, *GOOD, *BAD, END, ended, *LEAK[2:]], False))
        self.assertIn("FAILED lock: after the last test\n  " + "\n  ".join(LEAK[2:]) + "\n\n", text)

    def test_a_skipped_test_is_over(self):
        skipped = ["[ RUN      ] Suite.Skipped", "/t/some.cc:1: Skipped", "[  SKIPPED ] Suite.Skipped (0 ms)"]
        text = said(program("http", [BEGIN, *BAD, *skipped, *LEAK, END], False))
        self.assertTrue(text.endswith("failed: http: Suite.Bad, http: after Suite.Skipped\n"), text)

    def test_the_beginning_of_a_long_report_is_told_with_its_end(self):
        stacks = [f"    #{number} in some function" for number in range(500)]
        noise = [f"noise {number}" for number in range(500)]
        for lines in ([BEGIN, *GOOD, *noise, *LEAK[:3], *stacks, LEAK[3], END],
                      [BAD[0], *noise, *LEAK[:3], *stacks, LEAK[3], BAD[2]]):
            text = said(program("http", lines, False))
            for line in (LEAK[2], *stacks[:20], LEAK[3]):
                self.assertIn(f"  {line}\n", text)
            self.assertLess(text.count("\n"), 80)

    def test_noise_between_tests_is_not_told(self):
        text = said(program("http", [BEGIN, *GOOD, "noise", *BAD, "noise", END], False))
        self.assertNotIn("noise", text)
        self.assertNotIn("after", text)

    def test_what_has_passed_is_not_told(self):
        text = said(program("docs", ["all pages are there"], True), program("http", [BEGIN, *GOOD, *LEAK, END], True))
        self.assertNotIn("all pages", text)
        self.assertNotIn("ailed", text)


unittest.main()
