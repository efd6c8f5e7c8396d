#!/usr/bin/env python3
"""Every source is compiled once, as it is or in the unit of its folder: with the lab and without it, and in a build folder that is
inside the checkout. Configures and builds nothing. usage: units_test.py <checkout> <CMAKE_PREFIX_PATH>"""
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CHECKOUT, PREFIX = pathlib.Path(sys.argv[1]), sys.argv[2]
PARTS = ("CMakeLists.txt", "cmake", "migrations", "lock", "services", "controllers", "app")  # as docker/Dockerfile copies them
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
COMPILED = re.compile(r"^build \S+\.o: \S+ (\S+\.cc)\b", re.MULTILINE)


class UnitsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = pathlib.Path(folder.name) / "source"
        self.source.mkdir()
        for part in PARTS:
            copy = shutil.copytree if (CHECKOUT / part).is_dir() else shutil.copy
            copy(CHECKOUT / part, self.source / part)

    def compiled(self, build, *options):
        """How often each source of the tree is compiled."""
        done = subprocess.run(["cmake", "-S", self.source, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={PREFIX}",
                               "-DFESTA_TESTS=OFF", *options], capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        counts = collections.Counter()
        for name in COMPILED.findall((build / "build.ninja").read_text()):
            path = (build / name).resolve()
            if "units" in path.parts:
                included = INCLUDE.findall(path.read_text())
                self.assertTrue(included, f"{path} is empty")
                counts.update(included)
            elif build.resolve() not in path.parents:
                counts[str(path.relative_to(self.source.resolve()))] += 1
        return counts

    def assertOnceEach(self, counts, *left_out):
        sources = {str(path.relative_to(self.source)) for path in self.source.rglob("*.cc")
                   if "build" not in path.relative_to(self.source).parts}
        wanted = {name for name in sources if not name.startswith(left_out)}
        self.assertEqual({name: 1 for name in sorted(wanted)}, dict(sorted(counts.items())))

    def test_without_the_lab(self):
        self.assertOnceEach(self.compiled(self.source.parent / "build", "-DFESTA_LAB=OFF"), "app/lab/")

    def test_with_the_lab_in_a_folder_of_the_checkout(self):
        self.assertOnceEach(self.compiled(self.source / "build"))

    def test_each_source_by_itself(self):
        self.assertOnceEach(self.compiled(self.source.parent / "build", "-DFESTA_UNITY=OFF"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
