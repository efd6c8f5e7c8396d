#!/usr/bin/python3
"""run.py <port> [test names…]: the pages in a browser, against a lab of its own."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import harness  # noqa: E402


def main(port, names):
    loader = unittest.defaultTestLoader
    tests = loader.loadTestsFromNames(names) if names else loader.discover(str(pathlib.Path(__file__).parent), "*_test.py")
    harness.PageTest.lab = harness.Lab(int(port))
    try:
        result = unittest.TextTestRunner(verbosity=2).run(tests)
    finally:
        harness.PageTest.lab.stop()
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
