import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from loadtest.reporting import figures, markdown, page  # noqa: E402
from loadtest.reporting.plots import Row, Scale, bars, ranges, sparkline, thinned  # noqa: E402
from loadtest.reporting.timelines import timeline  # noqa: E402


def verdict(oversold=0, must_fail=False, violations=()):
    return {"ok": not oversold and not violations, "must_fail": must_fail, "oversold": oversold,
            "violations": list(violations), "facts": {"sold": 3 + oversold, "limit": 3}}


# As far as they occur here, in the order of the service's table.
STRATEGIES = ("none", "memory", "redis-spin", "redlock", "pg-row", "pg-version", "queue-local")


def cell(strategy, accepted=30.0, rejected=970.0, p95=20.0, **more):
    place = STRATEGIES.index(strategy) if strategy in STRATEGIES else len(STRATEGIES)
    times = {"count": 3, "p50": 10.0, "p95": p95, "p99": 30.0, "max": 40.0}
    return {"scenario": "pins", "title": "100 creates", "strategy": strategy, "place": place,
            "lab_only": strategy == "none", "backstop": "off", "instances": 1, "pool": 16,
            "order": 1, "rounds": 1, "verdict": verdict(), "seconds": 0.1, "accepted_per_s": accepted,
            "rejected_per_s": rejected, "errors_per_s": 0.0, "outcomes": {"201": 3, "409 PINNED_LIMIT_EXCEEDED": 97},
            "latency_ms": {"accepted": times, "rejected": times},
            "lock_ms": {"wait": times, "hold": None, "pool_wait": None}, "redis_commands_per_request": None,
            "rss_mb": {"start": 40.0, "max": 50.0}, "cpu_ms_per_request": 0.4,
            "timeline": [{"t": t, "rss_mb": 40 + t, "cpu_percent": None, "accepted_per_s": 5} for t in range(3)], **more}


def results(cells=(), pools=(), faults=()):
    return {"commit": "abc", "date": "2026-05-20T18:00:00+00:00", "quick": False,
            "machine": {"cpu": "a processor", "cores": 2, "memory_gb": 8, "kernel": "6.1",
                        "versions": {"postgresql": "15.1", "proxy": None}},
            "cells": list(cells), "pools": list(pools), "faults": list(faults)}


def fault(**more):
    return {"fault": "kill", "title": "kill -9 of an instance", "strategy": "memory", "instances": 3, "verdict": verdict(),
            "outcomes": {"200": 10}, "recovery_s": 1.5,
            "timeline": [{"t": t, "accepted_per_s": 10, "errors_per_s": 0} for t in range(5)],
            "marks": [{"t": 2, "text": "killed"}], **more}


def both(content):
    return page.render(content), markdown.render(content)


class Verdicts(unittest.TestCase):
    def test_a_strategy_that_oversold_is_red_with_its_number(self):
        html, text = both(results([cell("redis-spin", verdict=verdict(7, violations=["festival 1 has 10 pins"])), cell("memory")]))
        self.assertIn('<td class="broken" title="festival 1 has 10 pins">✗ 7 oversold</td>', html)
        self.assertIn("| redis-spin | **7 oversold** |", text)
        for rendered in (html, text):
            self.assertIn("1 of 2 combinations that claim to protect did not", rendered)

    def test_a_strategy_that_sold_too_little_is_broken_too(self):
        found = figures.judged(cell("memory", verdict=verdict(violations=["only 2 of 3 were given away"])))
        self.assertEqual(found, figures.Judged("broken", "1 broken promise"))

    def test_a_control_that_oversold_failed_as_it_must(self):
        html, text = both(results([cell("none", verdict=verdict(42, must_fail=True))]))
        self.assertIn('<td class="control" title="">✗ 42<small>oversold; control: failed as it must</small></td>', html)
        self.assertIn("**42 oversold (control: failed as it must)**", text)

    def test_what_several_runs_oversold_is_said_to_be_theirs(self):
        html, text = both(results([cell("none", rounds=3, verdict=verdict(42, must_fail=True)),
                                   cell("memory", rounds=3, verdict=verdict(7))]))
        self.assertIn("✗ 42<small>oversold in 3 runs; control: failed as it must</small>", html)
        self.assertIn("✗ 7 oversold in 3 runs</td>", html)
        self.assertIn("**42 oversold in 3 runs (control: failed as it must)**", text)
        self.assertIn("**7 oversold in 3 runs**", text)

    def test_facts_are_in_both_reports(self):
        one = {**verdict(), "facts": {"sold": 3, "limit": 3, "out_of_turn": 2, "most_pinned": None}}
        other = {**verdict(), "facts": {"transport_errors": 1, "holds_that_met": 0, "last_outcome_s": 12.5}}
        for rendered in both(results([cell("memory", verdict=one)], faults=[fault(verdict=other)])):
            self.assertIn("sold: 3, limit: 3, out of turn: 2, most pinned: –", rendered)
            self.assertIn("transport errors: 1, holds that met: 0, last outcome s: 12.5", rendered)

    def test_a_fault_without_recovery_says_so(self):
        html, text = both(results(faults=[fault(recovery_s=None)]))
        for rendered in (html, text):
            self.assertIn("No recovery was seen: kill -9 of an instance.", rendered)
        self.assertIn("3 instances; no recovery was seen", html)

    def test_a_control_that_did_not_oversell_is_blind(self):
        for one in (verdict(0, must_fail=True), verdict(0, must_fail=True, violations=["something else"])):
            html, text = both(results([cell("none", verdict=one)]))
            self.assertIn('<td class="blind"', html)
            self.assertIn("**blind (control: nothing was seen)**", text)
            self.assertIn("Blind: none (pins, one instance)", html)

    def test_forms_of_a_strategy_have_rows_of_their_own(self):
        cells = [cell("none", backstop="on"), cell("none"), cell("queue-local", workers=3), cell("memory", instances=3),
                 cell("memory", instances=3, backstop="single")]
        columns, rows = figures.matrix(cells)
        self.assertEqual(columns, [("pins", 1), ("pins", 3)])
        self.assertEqual([name for name, _ in rows], ["none", "none + backstop", "memory", "memory + backstop, not shared", "queue-local, 3 workers"])
        self.assertEqual([found is None for found in dict(rows)["memory"]], [True, False])


class Speed(unittest.TestCase):
    def fastest(self, *cells):
        found = figures.fastest(cells)
        return found and tuple(one["strategy"] for one in found)

    def test_what_broke_its_promise_is_not_fast(self):
        self.assertEqual(self.fastest(cell("redis-spin", rejected=9000.0, verdict=verdict(1)), cell("memory"),
                                      cell("redlock", rejected=200.0)), ("memory", "redlock"))

    def test_a_control_that_did_no_harm_is_not_fast_either(self):
        self.assertEqual(self.fastest(cell("none", rejected=9000.0), cell("memory")), ("memory", "memory"))
        self.assertEqual(self.fastest(cell("none", rejected=9000.0, backstop="on"), cell("memory")), ("none", "memory"))

    def test_among_equals_waiting_decides(self):
        self.assertEqual(self.fastest(cell("memory", p95=20.0), cell("pg-row", rejected=960.0, p95=5.0))[0], "pg-row")
        self.assertEqual(self.fastest(cell("memory", p95=20.0), cell("pg-row", rejected=600.0, p95=5.0))[0], "memory")

    def test_who_sends_people_away_is_not_fast(self):
        away = cell("pg-version", rejected=9000.0, errors_per_s=500.0)
        self.assertEqual(self.fastest(away, cell("memory")), ("memory", "memory"))
        self.assertEqual(self.fastest(away), ("pg-version", "pg-version"))

    def test_a_load_that_was_too_small_is_said(self):
        for missing, is_said in ((10, True), (5, False)):
            html = page.render(results([cell("memory", dropped_iterations=missing)]))
            self.assertEqual("1 of 1 combinations more than 5 %" in html, is_said)

    def test_nothing_measured_is_nothing_compared(self):
        self.assertIsNone(self.fastest())
        self.assertIsNone(self.fastest(cell("memory", accepted=None)))
        html, _ = both(results([cell("memory", accepted=None)]))
        self.assertIn("nothing that kept its promise was measured", html)

    def test_the_sentence_names_the_ratio(self):
        said = figures.speed_sentences(results([cell("memory"), cell("redlock", rejected=220.0)]))
        self.assertEqual(said, ["pins, one instance: memory, 1,000 answers a second, 95 % of the accepted ones within 20 ms; "
                                "4 times as many as redlock, the slowest."])


class Missing(unittest.TestCase):
    def test_a_dash_and_not_a_zero(self):
        self.assertEqual(figures.number(None), "–")
        self.assertEqual(figures.number(0), "0")
        self.assertEqual(figures.number(0.004), "0.004")
        self.assertEqual(figures.number(1234.5), "1,234")
        self.assertIn(">–</text>", bars([Row("memory", True, None)], "x"))
        self.assertIn(">0</text>", bars([Row("memory", True, 0)], "x"))
        self.assertIn(">–</text>", ranges([Row("memory", True, None)], "x"))

    def test_everything_that_may_be_null_may_be_null(self):
        empty = cell("memory")
        for name in ("seconds", "accepted_per_s", "rejected_per_s", "errors_per_s", "outcomes", "latency_ms", "lock_ms", "rss_mb",
                     "cpu_ms_per_request", "timeline", "title"):
            empty[name] = None
        partly = copy.deepcopy(cell("pg-row"))
        partly["latency_ms"] = {"accepted": {"count": 0, "p50": None, "p95": None, "p99": None, "max": None}, "rejected": None}
        html, text = both(results([empty, partly, cell("redlock")], [{"pool": 1, "pins": [], "limit": 3}],
                                  [fault(recovery_s=None, timeline=None, marks=None, outcomes=None, title=None)]))
        self.assertIn("| memory | kept | – | – | – | – | – | – | – | – | – | – | – | – | sold: 3, limit: 3 |", text)
        self.assertNotIn("None", html)
        self.assertNotIn("None", text)

    def test_an_empty_run_is_still_a_report(self):
        for content in (results(), {}):
            html, text = both(content)
            self.assertIn("No strategies were compared", html)
            self.assertTrue(text.startswith("# Strategies under load"))


class Escaping(unittest.TestCase):
    def test_text_stays_text(self):
        evil = '<script>alert("x")</script>|`'
        content = results([cell(evil, title=evil, verdict=verdict(1, violations=[evil]), outcomes={evil: 1})],
                          faults=[fault(title=evil, marks=[{"t": 1, "text": evil}], strategy=evil)])
        content["commit"] = content["machine"]["cpu"] = evil
        html, text = both(content)
        self.assertNotIn("<script", html)
        self.assertIn("&lt;script&gt;alert(&quot;x&quot;)", html)
        self.assertNotIn("<script", text)
        self.assertIn("&lt;/script&gt;\\|\\`", text)


class Plots(unittest.TestCase):
    def test_a_wide_range_is_logarithmic_and_says_so(self):
        rows = [Row("a", True, {"p50": 0.5, "p95": 5, "p99": 50, "max": 5000})]
        self.assertIn("ms, log scale", ranges(rows, "x"))
        self.assertIn("ms, linear scale", ranges([Row("a", True, {"p50": 10, "p95": 20, "p99": 30, "max": 40})], "x"))

    def test_zero_has_a_place_on_a_logarithmic_axis(self):
        scale = Scale([0, 0.1, 1000], 0, 100)
        self.assertTrue(scale.is_log)
        self.assertEqual(scale.at(0), 0)
        self.assertEqual(scale.at(1000), 100)

    def test_what_broke_its_promise_is_pale_and_marked(self):
        plot = bars([Row("none", False, 5)], "x")
        self.assertIn("none ✗", plot)
        self.assertIn('class="bar one pale"', plot)

    def test_texts_of_near_marks_do_not_overlap(self):
        points = [{"t": t, "accepted_per_s": 1, "errors_per_s": 0} for t in range(60)]
        plot = timeline(points, [{"t": 10, "text": "one is stopped"}, {"t": 11, "text": "two"}, {"t": 50, "text": "three"}], "x")
        heights = {word: plot.split(f'">{word}')[0].rsplit('y="', 1)[1].split('"')[0] for word in ("one", "two", "three")}
        self.assertNotEqual(heights["one"], heights["two"])
        self.assertEqual(heights["one"], heights["three"])

    def test_a_curve_is_broken_where_nothing_was_measured(self):
        points = [{"t": t, "accepted_per_s": None if t == 2 else 5, "errors_per_s": None} for t in range(5)]
        self.assertEqual(timeline(points, [], "x").count("<polyline"), 2)

    def test_pools_show_the_limit_and_each_run(self):
        html, text = both(results(pools=[{"pool": 1, "pins": [3, 3], "limit": 3}, {"pool": 100, "pins": [40], "limit": 3}]))
        self.assertIn("limit 3", html)
        self.assertEqual(html.count('class="dot ring two"'), 1)
        self.assertEqual(html.count('class="dot ring one"'), 2)
        self.assertIn("| 100 | 40 | 3 |", text)


class Program(unittest.TestCase):
    def run_report(self, *arguments):
        return subprocess.run([sys.executable, ROOT / "loadtest" / "report.py", *arguments], capture_output=True, text=True)

    def test_two_files_are_written_and_nothing_is_loaded_from_elsewhere(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "results.json"
            source.write_text(json.dumps(results([cell("memory")], faults=[fault()])))
            self.assertEqual(self.run_report(source, pathlib.Path(folder) / "out").returncode, 0)
            self.assertEqual(self.run_report(source).returncode, 0)
            html = (pathlib.Path(folder) / "out" / "report.html").read_text()
            self.assertEqual(html, (pathlib.Path(folder) / "report.html").read_text())
            self.assertTrue((pathlib.Path(folder) / "out" / "report.md").exists())
            for sign in ("http://", "https://", "src=", "@import", "url(", "<script"):
                self.assertNotIn(sign, html)

    def test_what_cannot_be_read_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "results.json"
            self.assertIn("cannot be read", self.run_report(source).stderr)
            source.write_text("{")
            self.assertEqual(self.run_report(source).returncode, 1)


class Size(unittest.TestCase):
    def test_the_page_opens_at_the_verdict(self):
        html = page.render(results([cell("memory"), cell("none", verdict=verdict(5, must_fail=True))]))
        self.assertLess(html.index('class="verdict kept"'), html.index("Who kept the promise"))
        self.assertLess(html.index("Who kept the promise"), html.index("a processor"))
        self.assertIn('class="verdict broken"', page.render(results([cell("memory", verdict=verdict(1))])))

    def test_figures_of_a_scenario_are_folded_away(self):
        html = page.render(results([cell("memory")]))
        self.assertIn('<details class="card"><summary>On one instance: memory was fastest of 1</summary>', html)
        self.assertNotIn("<details open", html)

    def test_a_long_run_does_not_make_a_large_page(self):
        short, long = (page.render(results([cell("memory", timeline=[
            {"t": t, "rss_mb": 40, "cpu_percent": 50, "accepted_per_s": t % 7} for t in range(seconds)])])) for seconds in (30, 5000))
        self.assertLess(len(long), len(short) + 500)

    def test_thinning_keeps_the_peak(self):
        points = [(t, 99 if t == 777 else 1) for t in range(1000)]
        self.assertLessEqual(len(thinned(points, 30)), 30)
        self.assertIn((777, 99), thinned(points, 30))
        self.assertIn("polyline", sparkline(points, "x"))


if __name__ == "__main__":
    unittest.main()
