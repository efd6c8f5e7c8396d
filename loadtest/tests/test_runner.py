"""The parts of the runner that need nothing but their arguments."""

import collections
import contextlib
import dataclasses
import io
import json
import os
import pathlib
import tempfile
import types
import unittest
import unittest.mock

from loadtest import run
from loadtest.runner import cells, faults, history, load, plan, processes, prometheus, redis_stats, results, sampling, service, \
    strategies
from loadtest.runner.processes import StartError
from loadtest.runner.verdict import Verdict

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The real table of the real service.
TABLE = strategies.read(os.environ.get("FESTABOOK", ROOT / ".build" / "release" / "festabook"))


class RotationTest(unittest.TestCase):
    def test_every_item_is_in_every_place_once_over_as_many_blocks_as_items(self):
        items = list("abcdefg")
        places = collections.Counter()
        for block in range(len(items)):
            for place, item in enumerate(plan.rotated(items, block)):
                places[item, place] += 1
        self.assertEqual(len(places), len(items) ** 2)
        self.assertEqual(set(places.values()), {1})

    def test_nothing_is_lost_or_run_twice(self):
        self.assertEqual(plan.rotated([], 3), [])
        self.assertEqual(sorted(plan.rotated([1, 2, 3], 100)), [1, 2, 3])


class StrategiesTest(unittest.TestCase):
    ROW = {"name": "new", "what": "w", "use": "u", "kind": "lock", "needs": None, "scope": "process", "order": "process",
           "lab_only": False, "refuses_stale_updates": False, "recommended": False}

    def test_a_row_is_read_and_what_is_not_known_here_is_left_out(self):
        table = strategies.parse(json.dumps([{**self.ROW, "later": 1}, {**self.ROW, "name": "two", "needs": "redis"}]))
        self.assertEqual(table.names(), ["new", "two"])
        self.assertEqual([(one.place, one.needs) for one in table], [(0, ""), (1, "redis")])

    def test_scope_and_order_count_for_several_instances(self):
        one = strategies.parse(json.dumps([self.ROW]))[0]
        self.assertTrue(one.reaches(1) and one.keeps_order(1))
        self.assertFalse(one.reaches(3) or one.keeps_order(3))
        shared = dataclasses.replace(one, scope="processes", order="overall")
        self.assertTrue(shared.reaches(3) and shared.keeps_order(3))

    def test_one_is_recommended_for_one_instance_and_one_for_several(self):
        self.assertEqual((TABLE.recommended(1).scope, TABLE.recommended(3).scope), ("process", "processes"))

    def test_a_row_that_was_added_takes_part_in_every_scenario(self):
        memory = TABLE.named("memory")
        new = dataclasses.replace(memory, name="new", place=len(TABLE), recommended=False)
        planned = lambda *rows: {(cell.scenario.name, cell.backstop, cell.instances, cell.workers, cell.must_fail())
                                 for _, _, cells in plan.plan(plan.SCENARIOS, rows, (1, 3), False) for cell in cells
                                 if cell.strategy == rows[-1] and cell.backstop in ("off", "")}
        self.assertEqual(planned(*TABLE, new), planned(memory))
        self.assertEqual(len(planned(*TABLE, new)), 10)


class PlanTest(unittest.TestCase):
    def cells(self, **wish):
        wish = {"scenarios": plan.SCENARIOS, "strategies": TABLE, "instances": (1, 3), "quick": False, **wish}
        return [cell for _, _, cells in plan.plan(**wish) for cell in cells]

    def test_blocks_begin_with_another_strategy_each(self):
        blocks = plan.plan(plan.SCENARIOS[:1], TABLE, (1, 3), False)
        self.assertEqual(len(blocks), 6)
        self.assertEqual(len({(cells[0].strategy.name, cells[0].backstop) for _, _, cells in blocks}), 6)

    def test_every_round_of_a_scenario_has_the_same_cells(self):
        rounds = [set(cells) for count, _, cells in plan.plan(plan.SCENARIOS[:1], TABLE, (1,), False)]
        self.assertEqual(len(rounds), 3)
        self.assertEqual(rounds[0], rounds[1])
        self.assertEqual(rounds[0], rounds[2])

    def test_controls_are_the_ways_that_are_known_to_fail(self):
        controls = {(cell.strategy.name, cell.instances) for cell in self.cells() if cell.must_fail()}
        in_process = {(one.name, 3) for one in TABLE if one.kind == "lock" and one.scope == "process"}
        self.assertIn(("memory", 3), in_process)
        self.assertEqual(controls, in_process | {("none", 1), ("none", 3), ("pg-repeatable-read", 1), ("pg-repeatable-read", 3)})
        self.assertFalse(any(cell.must_fail() for cell in self.cells() if cell.backstop != "off"))

    def test_queues_are_for_coupons_and_a_local_one_for_one_process(self):
        for cell in self.cells():
            if cell.strategy.is_queue():
                self.assertEqual(cell.scenario.subject, "coupons")
                self.assertTrue(cell.strategy.reaches(cell.instances))
            else:
                self.assertNotEqual(cell.scenario.name, "coupon-queue")
        workers = {cell.workers for cell in self.cells() if cell.scenario.name == "coupon-queue"}
        self.assertEqual(workers, {1, 3, 100})

    def test_what_refuses_stale_updates_is_a_control_for_pins_only(self):
        row = dataclasses.replace(TABLE.named("none"), name="new", refuses_stale_updates=True)
        subjects = {cell.scenario.subject for cell in self.cells(strategies=strategies.Table([row]))}
        self.assertEqual(subjects, {"pins"})

    def test_scripts_are_told_whether_their_strategy_is_a_queue(self):
        lab = types.SimpleNamespace(tokens="tokens.json")
        fleet = types.SimpleNamespace(url=lambda: "http://127.0.0.1")
        told = {(cell.strategy.is_queue(), cells.variables(lab, fleet, cell, 1)["QUEUES"]) for cell in self.cells()}
        self.assertEqual(told, {(True, "yes"), (False, "")})

    def test_nothing_without_the_backstop_is_called_production(self):
        on = {(cell.strategy.name, cell.instances) for cell in self.cells() if cell.backstop == "on"}
        self.assertEqual(on, {("none", 1), ("none", 3), (TABLE.recommended(1).name, 1), (TABLE.recommended(3).name, 3)})

    def test_what_shares_transactions_is_also_measured_without(self):
        single = {(cell.scenario.name, cell.strategy.name, cell.instances) for cell in self.cells() if cell.backstop == "single"}
        self.assertEqual(single, {(name, TABLE.recommended(count).name, count)
                                  for name in ("opening-second", "coupon-per-user") for count in (1, 3)})

    def test_a_quick_run_is_a_part_of_the_full_one(self):
        quick = self.cells(quick=True)
        self.assertLess(set(quick), set(self.cells()))
        self.assertEqual(len(quick), len(set(quick)))
        self.assertEqual({cell.strategy for cell in quick}, set(TABLE))
        self.assertEqual({cell.scenario.name for cell in quick if cell.instances == 3}, {"pins"})

    def test_what_is_named_by_hand_is_run_quick_or_not(self):
        storm = [scenario for scenario in plan.SCENARIOS if scenario.name == "pin-storm"]
        self.assertFalse(self.cells(scenarios=storm, quick=True))
        self.assertTrue(self.cells(scenarios=storm, quick=True, chosen=True))

    def test_a_wish_that_leaves_nothing_to_run_is_refused(self):
        complaint = io.StringIO()
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(complaint):
            run.parse(["--strategy", "queue-local", "--instances", "3"], TABLE)
        self.assertIn("take no part", complaint.getvalue())
        self.assertEqual(run.parse(["--strategy", "queue-local"], TABLE).strategy, ["queue-local"])


class ResultsTest(unittest.TestCase):
    @staticmethod
    def line(strategy, sold, instances=1):
        return {"scenario": "pins", "strategy": strategy, "backstop": "off", "instances": instances, "workers": None, "sold": sold}

    def test_cells_that_are_run_again_take_the_place_of_the_older_ones(self):
        with tempfile.TemporaryDirectory() as folder:
            results.Results(folder, True, "k6").set_cells([self.line("none", 1), self.line("memory", 2), self.line("none", 3, 3)])
            again = results.Results(folder, True, "k6")
            again.set_cells([self.line("redlock", 5)])
            again.set_cells([self.line("redlock", 5), self.line("memory", 6)])
            found = [(line["strategy"], line["sold"]) for line in results.Results(folder, True, "k6").content["cells"]]
            self.assertEqual(found, [("none", 1), ("memory", 6), ("none", 3), ("redlock", 5)])
            self.assertEqual(results.Results(folder, False, "k6").content["cells"], [], "of another size")

    def test_runs_of_other_commits_and_sizes_are_kept_beside(self):
        with tempfile.TemporaryDirectory() as folder:
            for commit, quick in (("aaaaaaaaaaaa", False), ("aaaaaaaaaaaa", True), ("bbbbbbbbbbbb+changes", True), ("", True), ("aaaaaaaaaaaa", True), ("c", True)):
                with unittest.mock.patch.object(results, "commit", lambda commit=commit: commit):
                    results.Results(folder, quick, "k6").set_cells([self.line("none", f"{commit} {quick}")])
            kept = {path.name: json.loads(path.read_text())["cells"][0]["sold"] for path in pathlib.Path(folder).iterdir()}
            self.assertEqual(kept, {"results.aaaaaaaaaaaa.full.json": "aaaaaaaaaaaa False",
                                    "results.aaaaaaaaaaaa.quick.json": "aaaaaaaaaaaa True",
                                    "results.aaaaaaaaaaaa.quick.2.json": "aaaaaaaaaaaa True",
                                    "results.bbbbbbbbbbbb+changes.quick.json": "bbbbbbbbbbbb+changes True",
                                    "results.unknown.quick.json": " True", "results.json": "c True"})


class HistogramTest(unittest.TestCase):
    TEXT = """# HELP wait waiting
wait_bucket{lockable="a",strategy="memory",le="0.1"} %d
wait_bucket{lockable="a",strategy="memory",le="0.2"} %d
wait_bucket{lockable="a",strategy="memory",le="+Inf"} %d
wait_bucket{lockable="a",strategy="none",le="0.1"} 1000
wait_sum{lockable="a",strategy="memory"} 12.5
"""

    def test_buckets_of_all_instances_are_summed(self):
        found = prometheus.buckets([self.TEXT % (1, 2, 3), self.TEXT % (10, 20, 30)], "wait", strategy="memory")
        self.assertEqual(found, {0.1: 11, 0.2: 22, float("inf"): 33})

    def test_percentiles_lie_evenly_inside_their_bucket(self):
        counts = {0.1: 50.0, 0.2: 100.0, float("inf"): 100.0}
        self.assertAlmostEqual(prometheus.percentile(counts, 0.25), 0.05)
        self.assertAlmostEqual(prometheus.percentile(counts, 0.5), 0.1)
        self.assertAlmostEqual(prometheus.percentile(counts, 0.75), 0.15)

    def test_beyond_the_last_bound_that_bound_is_all_that_is_known(self):
        self.assertEqual(prometheus.percentile({0.1: 1.0, 0.2: 1.0, float("inf"): 10.0}, 0.99), 0.2)

    def test_only_what_was_observed_meanwhile_counts(self):
        found = prometheus.percentiles_ms([self.TEXT % (100, 100, 100)], [self.TEXT % (100, 110, 110)], "wait",
                                          strategy="memory")
        self.assertEqual(found, {"p50": 150.0, "p95": 195.0, "p99": 199.0})

    def test_without_observations_there_are_no_percentiles(self):
        same = [self.TEXT % (1, 2, 3)]
        self.assertIsNone(prometheus.percentiles_ms(same, same, "wait", strategy="memory"))
        self.assertIsNone(prometheus.percentiles_ms(same, same, "hold"))


class RedisStatsTest(unittest.TestCase):
    BEFORE = "# Commandstats\r\ncmdstat_evalsha:calls=10,usec=1\r\ncmdstat_set:calls=99,usec=1\r\n"
    AFTER = ("cmdstat_evalsha:calls=25,usec=1\r\ncmdstat_eval:calls=2,usec=1\r\ncmdstat_set:calls=500,usec=1\r\n"
             "cmdstat_info:calls=7,usec=1\r\n")

    def test_only_what_clients_sent_counts_not_what_scripts_call(self):
        self.assertEqual(redis_stats.sent([self.BEFORE], [self.AFTER]), 17)

    def test_servers_are_summed_and_one_that_restarted_counts_from_nothing(self):
        self.assertEqual(redis_stats.sent([self.BEFORE, self.AFTER], [self.AFTER, self.BEFORE]), 17 + 10)


class SamplingTest(unittest.TestCase):
    def test_a_process_has_memory_and_has_spent_time(self):
        with sampling.Sampler(lambda: [1, 2**22], every=0.01) as sampler:
            sum(range(1000))
        self.assertGreaterEqual(len(sampler.samples), 2)
        self.assertGreaterEqual(sampler.rss_mb()["max"], sampler.rss_mb()["start"])
        self.assertGreaterEqual(sampler.cpu_ms(), 0)

    def test_a_timeline_has_rates_and_the_share_of_the_processor(self):
        samples = [(100.0, 10.0, 0.0), (100.5, 20.0, 250.0), (101.5, 15.0, 1250.0)]
        points = sampling.timeline(samples, [100.1, 100.2, 101.9], 100.0, 1.0)
        self.assertEqual(points, [{"t": 0.0, "rss_mb": 20.0, "cpu_percent": 50.0, "accepted_per_s": 2.0},
                                  {"t": 1.0, "rss_mb": 15.0, "cpu_percent": 100.0, "accepted_per_s": 1.0}])
        self.assertEqual(sampling.timeline([], [], 0.0, 1.0), [])


class LoadTest(unittest.TestCase):
    CONSOLE = """{"kind":"subject","coupon":9,"stock":2}
{"kind":"answer","who":"a","status":201,"code":"","row":"1","key":"k","sent":1000,"received":1010.5,"user":1}
{"kind":"answer","who":"b","status":409,"code":"COUPON_SOLD_OUT","row":"","key":"k","sent":1001,"received":1003,"user":2}
something that the script did not mean to print
{"kind":"answer","who":"c","status":0,"code":"","row":"","key":"k","sent":1002,"received":3000,"user":3}
"""

    def test_the_console_is_read_into_subject_and_answers(self):
        run = load.Run(*load.read_console(self.CONSOLE), {})
        self.assertEqual(run.subject["coupon"], 9)
        self.assertEqual(run.outcomes(), {"0": 1, "201": 1, "409 COUPON_SOLD_OUT": 1})
        self.assertEqual(run.latencies(), {"accepted": [10.5], "rejected": [2]})
        self.assertEqual((run.began(), run.seconds(), run.accepted_at()), (1.0, 2.0, [1.0105]))

    def test_a_claim_in_a_queue_takes_until_it_is_over(self):
        answer = {"status": 202, "code": "", "sent": 1000, "received": 1010, "ms": 9.5, "finished": 3000}
        self.assertEqual(load.Run({}, [answer], {}).latencies()["accepted"], [2000])
        self.assertEqual(load.taken({**answer, "finished": None}), 9.5)
        self.assertEqual(load.taken({**answer, "status": 201}), 9.5)

    def test_thresholds_that_were_not_held_are_named(self):
        said = "pins: 3 accepted\n  500 INTERNAL: 2\n  not held: server_errors: count==0, unexpected: count==0\n"
        self.assertEqual(load.not_held(said), "server_errors: count==0, unexpected: count==0")
        run = load.Run({}, [], {"thresholds_ok": False, "not_held": load.not_held(said)})
        self.assertEqual(run.broken_thresholds(),
                         ["k6's thresholds were not held: server_errors: count==0, unexpected: count==0"])
        self.assertEqual(load.Run({}, [], {"thresholds_ok": True, "dropped_iterations": 99}).broken_thresholds(), [])

    def test_percentiles_are_values_that_were_seen(self):
        self.assertIsNone(load.percentiles([]))
        self.assertEqual(load.percentiles(range(100, 0, -1)), {"count": 100, "p50": 51, "p95": 96, "p99": 100, "max": 100})


class Idle:
    """A sampler that saw nothing."""
    samples = []

    def cpu_ms(self):
        return 10.0

    def rss_mb(self):
        return {"start": 20.0, "max": 30.0}


class MeasuredTest(unittest.TestCase):
    def measured(self, strategy, oversold=0, violations=(), rounds=1):
        cell = plan.Cell(plan.SCENARIOS[0], TABLE.named(strategy), "off", 1)
        line = cells.Measured(cell, 1)
        run = load.Run(*load.read_console(LoadTest.CONSOLE), {"thresholds_ok": True, "dropped_iterations": 2})
        for _ in range(rounds):
            verdict = Verdict()
            verdict.oversold, verdict.violations = oversold, list(violations)
            verdict.facts = {"sold": 3 + oversold, "limit": 3}
            line.add(run, verdict, (["a"], ["b"]), 30, Idle())
        return line

    def test_a_control_that_oversells_is_no_failure_and_one_that_does_not_is_blind(self):
        self.assertFalse(self.measured("none", 2, ["x"]).is_failure())
        self.assertFalse(self.measured("none", 2, ["x"]).is_blind())
        self.assertTrue(self.measured("none").is_blind())
        self.assertTrue(self.measured("memory", 2, ["x"]).is_failure())
        self.assertFalse(self.measured("memory").is_failure() or self.measured("memory").is_blind())

    def test_a_blind_control_is_as_bad_as_a_broken_promise(self):
        self.assertTrue(self.measured("none", 2, ["x"]).is_good())
        self.assertTrue(self.measured("memory").is_good())
        self.assertFalse(self.measured("none").is_good())
        self.assertFalse(self.measured("memory", 0, ["x"]).is_good())

    def test_only_a_control_may_break_thresholds(self):
        run = load.Run({}, [], {"thresholds_ok": False, "not_held": "unexpected: count==0"})
        for strategy, count in (("memory", 1), ("none", 0)):
            verdict = Verdict()
            cells.look_at_thresholds(plan.Cell(plan.SCENARIOS[0], TABLE.named(strategy), "off", 1), run, verdict)
            self.assertEqual(len(verdict.violations), count)

    def test_rounds_are_added_up(self):
        line = self.measured("redis-fair", rounds=2).to_json()
        self.assertEqual((line["rounds"], line["seconds"], line["outcomes"]["201"]), (2, 4.0, 2))
        self.assertEqual((line["accepted_per_s"], line["rejected_per_s"], line["errors_per_s"]), (0.5, 0.5, 0.5))
        self.assertEqual((line["redis_commands_per_request"], line["cpu_ms_per_request"]), (10.0, 3.333))
        self.assertEqual((line["dropped_iterations"], line["latency_ms"]["accepted"]["count"]), (4, 2))

    def test_a_script_that_failed_is_a_failure(self):
        line = cells.Measured(plan.Cell(plan.SCENARIOS[0], TABLE.named("memory"), "off", 1), 1)
        line.failed("the script failed")
        self.assertTrue(line.is_failure())
        self.assertFalse(line.to_json()["verdict"]["ok"])

    def test_too_many_pins_in_the_middle_count_even_if_the_end_is_right(self):
        verdict = Verdict()
        verdict.facts = {"sold": 3, "limit": 3}
        cells.look_at_samples(load.Run({}, [], {"facts": {"most_pinned": 5}}), verdict)
        self.assertEqual((verdict.oversold, len(verdict.violations)), (2, 1))


class HistoryTest(unittest.TestCase):
    def test_words_are_as_the_checker_reads_them(self):
        self.assertEqual([history.word(text) for text in ("", "a b%", "é")], ["%", "a%20b%25", "%c3%a9"])

    def test_lines_that_a_kill_has_cut_are_left_out(self):
        log = '{"event":"lock","request_id":"a"}\n{"event":"request","request_id":"a"}\n{"event":"lock","request_i'
        self.assertEqual(len(history.lock_lines(log, {"a"})), 1)
        self.assertEqual(history.lock_lines(log, {"b"}), [])

    def test_each_row_finds_one_unanswered_request_only(self):
        answers = {"a": {"who": "a", "status": 0, "row": "", "key": "k", "user": 1}}
        by_row, broken = history.owners([{"id": 1, "user": 1}, {"id": 2, "user": 1}], answers, (201,))
        self.assertEqual(by_row, {"1": "a"})
        self.assertEqual(broken, ["row 2 exists, but no client was told of it"])


def tried(who, sent, received, status=200, user=1):
    return {"who": who, "sent": sent, "received": received, "status": status, "user": user, "idempotency": who[0],
            "code": "", "row": "1" if status == 200 else "", "key": "seat A-1"}


class FaultsTest(unittest.TestCase):
    def test_the_service_has_recovered_after_its_last_error_and_clients_when_they_know_their_outcome(self):
        answers = [tried("a", 1000, 1010), tried("b1", 6000, 6500, 503), tried("b2", 7000, 7500), tried("c", 9000, 9010)]
        self.assertEqual(faults.recovery(answers, 2.0, 6.0), 0.5)
        self.assertEqual(faults.last_outcome(answers, 6.0), 1.5)
        self.assertEqual(faults.last_outcome(answers[-1:], 6.0), 0.0)

    def test_waiting_for_a_dead_holders_lease_is_not_recovered_yet(self):
        answers = [tried("a", 1000, 1010), tried("b", 5000, 8000), tried("c", 9000, 9900)]
        self.assertEqual(faults.recovery(answers, 2.0, 5.0), 3.0)
        self.assertEqual(faults.recovery([answers[0], answers[2]], 2.0, 5.0), 0.0)

    def test_errors_to_the_very_end_are_no_recovery(self):
        self.assertIsNone(faults.recovery([tried("a", 1000, 1010), tried("b", 9000, 9010, 0)], 2.0, 5.0))

    def test_without_a_success_after_the_mending_there_is_no_recovery(self):
        refused = [tried("a", 1000, 1010), tried("b", 4900, 5100), tried("c", 9000, 9010, 409)]
        self.assertIsNone(faults.recovery(refused, 2.0, 5.0))
        self.assertEqual(faults.recovery([*refused, tried("d", 9000, 9010)], 2.0, 5.0), 0.0)

    def test_the_proxys_own_answers_are_told_from_the_services(self):
        self.assertTrue(all(faults.is_transport_error(tried("a", 0, 1, status)) for status in (0, 502, 503, 504)))
        self.assertFalse(faults.is_transport_error({**tried("a", 0, 1, 503), "code": "SHUTTING_DOWN"}))
        self.assertFalse(faults.is_transport_error(tried("a", 0, 1, 500)))

    def test_a_process_must_end_well_after_sigterm(self):
        self.assertEqual(faults.bad_end("one", 0), [])
        self.assertEqual(faults.bad_end("one", -9), ["one did not end after SIGTERM and was killed"])
        self.assertEqual(faults.bad_end("one", -11), ["one ended with -11 after SIGTERM"])

    def test_a_drain_that_ran_into_its_limit_is_caught(self):
        line = '{"time":"t","level":"%s","event":"stopped","unanswered":0}\n'
        self.assertEqual(faults.hung_drains(line % "info"), [])
        self.assertEqual(len(faults.hung_drains(line % "info" + line % "warn")), 1)

    def test_a_refusal_that_was_none_is_caught(self):
        log = '{"event":"lock","request_id":"b2"}\n'
        refused = [tried("a1", 1000, 1010, 503), tried("a2", 2000, 2010)]
        self.assertEqual(len(history.false_refusals(refused, log)), 1)
        self.assertEqual(history.false_refusals([tried("a1", 1000, 1010, 0), refused[1]], log), [])
        self.assertEqual(history.false_refusals([tried("b1", 1000, 1010, 503), tried("b2", 2000, 2010)], log), [])
        queued = [tried("a1", 1000, 1010, 503), {**tried("a2", 2000, 2010), "status": 202}]
        self.assertEqual(history.false_refusals(queued, log), [])

    def test_a_timeline_counts_answers_by_half_seconds(self):
        points = faults.timeline([tried("a", 0, 1200), tried("b", 0, 2100, 503)], 1.0)
        self.assertEqual([(p["t"], p["accepted_per_s"], p["errors_per_s"]) for p in points],
                         [(0.0, 2.0, 0.0), (0.5, 0.0, 0.0), (1.0, 0.0, 2.0)])


class ServerTest(unittest.TestCase):
    def test_the_line_of_a_server_is_read(self):
        words = processes.read_line("redis", "ready pid=7 port=20001 stop=TERM FESTA_REDIS_PORT=20001\n")
        self.assertEqual(words, {"pid": "7", "port": "20001", "stop": "TERM", "FESTA_REDIS_PORT": "20001"})

    def test_a_server_that_fails_says_why(self):
        with self.assertRaisesRegex(StartError, "^port 22 is in use$"):
            processes.read_line("redis", "failed port 22 is in use\n")
        with self.assertRaisesRegex(StartError, "redis"):
            processes.read_line("redis", "")

    def test_two_runs_do_not_share_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            first = processes.Processes(folder)
            with self.assertRaises(StartError):
                processes.Processes(folder)
            first.stop_all()
            processes.Processes(folder).stop_all()


class TokenTest(unittest.TestCase):
    def test_the_users_number_is_read_from_a_token(self):
        self.assertEqual(service.id_in("e30.eyJ1aWQiOjQyfQ.sig"), 42)


if __name__ == "__main__":
    unittest.main()
