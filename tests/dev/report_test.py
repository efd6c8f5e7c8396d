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
    return "\n".join([f"1/1 Testing: {name}", f"1/1 Test: {name}", f'Command: "{name}"', "Output:", rule, *output, "<end of output>", rule,
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
        self.assertTrue(text.endswith("failed: http: Suite.Crash\n"), text)

    def test_a_program_that_fails_without_a_failed_test_shows_its_last_lines(self):
        text = said(program("docs", ["a page is missing"], False), program("leaky", GOOD + ["detected memory leaks"], False))
        self.assertIn("FAILED docs\n", text)
        self.assertIn("  a page is missing\n", text)
        self.assertIn("  detected memory leaks\n", text)
        self.assertTrue(text.endswith("failed: docs, leaky\n"), text)

    def test_what_has_passed_is_not_told(self):
        text = said(program("docs", ["all pages are there"], True), program("http", GOOD, True))
        self.assertNotIn("all pages", text)
        self.assertNotIn("ailed", text)


unittest.main()
