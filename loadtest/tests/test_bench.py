"""What the benchmark tells of itself."""
import contextlib
import io
import unittest

from loadtest.bench.figures import Figures, StolenTime


class FiguresTest(unittest.TestCase):
    def setUp(self):
        self.figures = Figures("0123456789ab")
        with contextlib.redirect_stdout(io.StringIO()):
            self.figures.took("sales", 90.2)
            self.figures.took("lists", 30.1)

    def test_the_summary_names_its_commit_and_tells_how_long_it_took(self):
        self.assertIn("festabook 0123456789ab, ", self.figures.summary())
        self.assertIn("It took 2.0 minutes; seconds of each part: sales 90, lists 30.", self.figures.summary())

    def test_a_run_that_took_too_long_has_missed_a_goal(self):
        with contextlib.redirect_stdout(io.StringIO()):
            self.figures.figure("time of all parts", self.figures.seconds() / 60, "minutes", goal=15)
            self.assertTrue(self.figures.all_reached())
            self.figures.figure("time of all parts", 15.0, "minutes", goal=15)
        self.assertFalse(self.figures.all_reached())


class StolenTimeTest(unittest.TestCase):
    def test_it_is_a_part_of_the_time_since_it_began(self):
        texts = iter(["cpu  100 0 100 700 0 0 0 100 0 0\ncpu0 1", "cpu  150 0 110 730 0 0 0 110 0 0\ncpu0 1"])
        stolen = StolenTime(lambda: next(texts))
        self.assertEqual(stolen.percent(), 10)


if __name__ == "__main__":
    unittest.main()
