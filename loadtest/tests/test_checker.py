"""The verdict on a real PostgreSQL: planted faults are caught, and a clean history passes."""

import os
import pathlib
import tempfile
import unittest

from loadtest.runner.processes import ROOT, Processes
from loadtest.runner.servers import Postgres
from loadtest.runner.verdict import Judge

DATABASE = "checker"
SEED = """
INSERT INTO users (id, login, password_hash, name, age, email, phone)
  SELECT n, 'user' || n, '', 'User', 20, 'u@example.com', '010' FROM generate_series(1, 9) AS n;
INSERT INTO festivals (id, university_name, festival_name, start_date, end_date)
  SELECT n, 'U', 'F', '2026-05-20', '2026-05-22' FROM generate_series(1, 2) AS n;
INSERT INTO places (id, name, location, max_seat) VALUES (1, 'P', 'L', 100);
INSERT INTO performances (id, place_id, category, start_at, end_at, start_reservation_at, end_reservation_at, title,
  content, acting, film_rating, price) VALUES (5, 1, 'CONCERT', now(), now(), now(), now(), 't', 'c', 'a', 'ALL', 1);
INSERT INTO seats (id, performance_id, location, number, is_reserved) SELECT n, 5, 'A', n, true FROM generate_series(1, 2) AS n;
INSERT INTO reservations (id, user_id, seat_id, performance_id) VALUES (101, 1, 1, 5), (102, 2, 2, 5);
INSERT INTO announcements (id, festival_id, title, content, is_pinned, pin_slot)
  SELECT 200 + n, 1, 't', 'c', true, n FROM generate_series(1, 3) AS n;
INSERT INTO coupons (id, name, stock, remaining, granted, one_per_user) VALUES (9, 'c', 3, 0, 3, true);
INSERT INTO coupon_claims (id, coupon_id, user_id, state, sequence, one_per_user)
  SELECT 300 + n, 9, n, 'DONE', n, true FROM generate_series(1, 3) AS n;
"""
# As a start of the lab does, so that unguarded rows can be stored.
LAB = "".join(f"ALTER TABLE {table} DROP CONSTRAINT {table}_guarded;"
              for table in ("announcements", "reservations", "coupon_claims"))


def answer(who, status, row="", user=1, key="k", at=1000.0):
    return {"kind": "answer", "who": who, "status": status, "code": "", "row": row, "key": key, "sent": at,
            "received": at + 5, "user": user}


def locked(who, fence, granted, ended, key="aa", outcome="released", wait_ms=0.0):
    return (f'{{"event":"lock","request_id":"{who}","outcome":"{outcome}","wait_ms":{wait_ms},"fence":{fence},'
            f'"key":"{key}","granted_ns":{granted},"ended_ns":{ended}}}\n')


SALES = [answer("a", 200, "101", 1), answer("b", 200, "102", 2), answer("c", 409, "", 3)]
CLAIMS = [answer("a", 201, "301", 1), answer("b", 201, "302", 2), answer("c", 201, "303", 3)]
PINS = [answer("a", 201, "201"), answer("b", 201, "202"), answer("c", 201, "203"), answer("d", 409)]


class CheckerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="festabook-checker-")
        cls.addClassCleanup(folder.cleanup)
        pathlib.Path(folder.name).chmod(0o755)
        processes = Processes(folder.name)
        cls.addClassCleanup(processes.stop_all)
        cls.postgres = Postgres(processes, DATABASE, ["fsync=off"]).ready()
        cls.addClassCleanup(cls.postgres.remove)
        migrations = sorted((ROOT / "migrations").glob("V*.sql"))
        cls.postgres.run("".join(migration.read_text() for migration in migrations) + LAB)

    def setUp(self):
        self.store("TRUNCATE users, festivals, places, performances, seats, coupons CASCADE;" + SEED)
        self.judge = Judge(self.postgres, os.environ["HISTORY_CHECK"])

    def store(self, sql):
        self.postgres.run(sql)

    def seats(self, answers=SALES, log="", **promises):
        return self.judge.judge("seats", {"performance": 5}, answers, log, **promises)

    def coupons(self, answers=CLAIMS, log="", **promises):
        return self.judge.judge("coupons", {"coupon": 9}, answers, log, **promises)

    def pins(self, answers=PINS, log="", **promises):
        return self.judge.judge("pins", {"festivals": [1]}, answers, log, **promises)

    def test_clean_histories_pass(self):
        log = locked("a", 1, 10, 20) + locked("b", 2, 20, 30) + locked("c", 0, 0, 0, outcome="busy")
        for verdict in (self.seats(log=log), self.coupons(log=log), self.pins(log=log)):
            self.assertEqual(verdict.violations, [])
            self.assertEqual(verdict.oversold, 0)
        self.assertEqual(self.seats().facts["sold"], 2)
        self.assertEqual(self.pins().facts["limit"], 3)

    def test_a_double_sale_is_caught(self):
        self.store("INSERT INTO reservations (id, user_id, seat_id, performance_id, unguarded) VALUES (103, 3, 1, 5, true)")
        verdict = self.seats([*SALES[:2], answer("c", 200, "103", 3)])
        self.assertEqual(verdict.violations, ["seat A-1 of performance 5 was sold 2 times"])
        self.assertEqual(verdict.oversold, 1)

    def test_a_cancelled_sale_is_no_double(self):
        self.store("INSERT INTO reservations (id, user_id, seat_id, performance_id, cancelled_at) VALUES (103, 3, 1, 5, now())")
        self.assertEqual(self.seats([*SALES[:2], answer("c", 200, "103", 3), answer("d", 204, "103", 3)]).violations, [])

    def test_a_seat_that_is_marked_wrongly_is_caught(self):
        self.store("UPDATE seats SET is_reserved = false WHERE id = 1")
        self.assertEqual(self.seats().violations, ["seat A-1 of performance 5 is sold, but not marked"])
        self.store("UPDATE seats SET is_reserved = true; UPDATE reservations SET cancelled_at = now() WHERE id = 101")
        self.assertIn("seat A-1 of performance 5 is marked as sold, but has no reservation", self.seats().violations)

    def test_a_fourth_pin_is_caught(self):
        self.store("INSERT INTO announcements (id, festival_id, title, content, is_pinned, unguarded)"
                   " VALUES (204, 1, 't', 'c', true, true)")
        verdict = self.pins([*PINS[:3], answer("d", 201, "204")])
        self.assertEqual(verdict.violations, ["festival 1 has 4 pinned announcements"])
        self.assertEqual((verdict.oversold, verdict.facts["sold"]), (1, 4))

    def test_other_subjects_are_not_looked_at(self):
        self.store("INSERT INTO announcements (festival_id, title, content, is_pinned, unguarded)"
                   " SELECT 2, 't', 'c', true, true FROM generate_series(1, 9)")
        self.assertEqual(self.pins().violations, [])

    def test_a_lost_row_behind_a_success_is_caught(self):
        self.store("DELETE FROM announcements WHERE id = 203")
        self.assertEqual(self.pins(sold_out=False).violations, ["c was answered 201, but there is no row '203'"])

    def test_a_row_that_no_client_was_told_of_is_caught(self):
        self.assertEqual(self.seats([SALES[0], SALES[2]]).violations, ["row 102 exists, but no client was told of it"])

    def test_a_row_behind_a_refusal_is_caught(self):
        self.assertEqual(self.seats([SALES[0], answer("b", 503, "", 2)]).violations,
                         ["row 102 exists, but no client was told of it"])

    def test_a_row_may_stand_behind_an_answer_that_never_came(self):
        for status in (0, 500, 502):
            self.assertEqual(self.seats([SALES[0], answer("b", status, "", 2)]).violations, [])
        # … of the same user only.
        self.assertEqual(self.seats([SALES[0], answer("b", 0, "", 7)]).violations,
                         ["row 102 exists, but no client was told of it"])

    def test_repetitions_that_get_the_first_answer_are_one_operation(self):
        first, again = dict(SALES[0], idempotency="i"), dict(answer("a2", 200, "101", 1), idempotency="i")
        self.assertEqual(self.seats([first, *SALES[1:], again, dict(again, who="a3")]).violations, [])
        self.assertEqual(self.seats([*SALES, answer("d", 200, "101", 4)]).violations,
                         ["d was answered 200 with row 101, which is of a"])

    def test_a_double_click_with_two_effects_is_caught(self):
        clicks = [dict(SALES[0], idempotency="i"), dict(SALES[1], user=1, idempotency="i")]
        self.store("UPDATE reservations SET user_id = 1")
        self.assertEqual(self.seats(clicks).violations, ["key i of user 1 stored two rows, 101 and 102"])

    def test_a_user_with_two_coupons_is_caught(self):
        self.store("UPDATE coupon_claims SET unguarded = true, user_id = 1 WHERE id = 302")
        verdict = self.coupons([CLAIMS[0], answer("b", 201, "302", 1, "other"), CLAIMS[2]])
        self.assertEqual(verdict.violations, ["user 1 has coupon 9 2 times"])
        self.assertEqual(verdict.oversold, 1)

    def test_a_gap_in_the_sequence_is_caught(self):
        self.store("UPDATE coupon_claims SET sequence = 5 WHERE id = 303; UPDATE coupons SET granted = 5")
        self.assertEqual(self.coupons().violations, ["coupon 9 has a gap: its last number is 5, but it gave 3"])

    def test_a_number_given_twice_and_a_lost_unit_are_caught(self):
        self.store("UPDATE coupon_claims SET unguarded = true, sequence = 2 WHERE id = 303; UPDATE coupons SET granted = 2")
        self.assertEqual(self.coupons().violations, ["coupon 9 gave 1 of its numbers twice"])
        self.store("UPDATE coupons SET remaining = 1")
        self.assertIn("coupon 9 has 1 left, but 3 of 3 were granted", self.coupons().violations)

    def test_more_than_the_stock_is_caught(self):
        self.store("UPDATE coupons SET stock = 2")
        self.assertIn("coupon 9 was granted 3 times from a stock of 2", self.coupons().violations)

    def test_a_claim_without_an_outcome_is_caught(self):
        self.store("UPDATE coupon_claims SET state = 'PROCESSED' WHERE id = 303")
        self.assertEqual(self.coupons().violations, ["claims were left without an outcome"])

    def test_a_queue_out_of_turn_is_caught(self):
        late = [answer("a", 202, "301", 1, at=2000.0), answer("b", 202, "302", 2, at=1000.0), CLAIMS[2]]
        verdict = self.coupons(late, queued=True, ordered=True)
        self.assertEqual(len(verdict.violations), 2, "b and c were overtaken")
        for violation, overtaken in zip(verdict.violations, "bc"):
            self.assertIn(f"{overtaken} (fence", violation)
            self.assertIn("was received before a", violation)

    def test_locks_held_together_are_caught(self):
        verdict = self.pins(log=locked("a", 1, 10, 21) + locked("b", 2, 20, 30))
        self.assertEqual(verdict.violations, ["key aa: b (fence 2) was granted while a (fence 1) held it"])

    def test_locks_out_of_turn_are_counted(self):
        second = 1_000_000_000
        log = locked("a", 2, 5 * second, 5 * second, wait_ms=4000) + locked("b", 1, 4 * second, 4 * second, wait_ms=2000)
        self.assertEqual(self.pins(log=log, ordered=True).facts["out_of_turn"], 1)
        self.assertEqual(self.pins(log=log[:0], ordered=True).facts["out_of_turn"], 0)

    def test_something_left_over_is_told_where_all_was_wanted(self):
        self.store("UPDATE announcements SET is_pinned = false, pin_slot = NULL WHERE id = 203")
        self.assertEqual(self.pins().violations, ["only 2 of 3 were given away"])
        self.assertEqual(self.pins(sold_out=False).violations, [])


if __name__ == "__main__":
    unittest.main()
