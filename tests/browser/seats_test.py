"""The hall: a sale is seen in other browsers, and of two buyers of one seat one wins and the other is told."""

import threading

from harness import PATIENCE, WindowTest


class SeatsPage(WindowTest):
    # The browser itself writes such lines.
    expected = ("409 (Conflict)", "404 (Not Found)", "400 (Bad Request)", "401 (Unauthorized)")

    def watching(self, person, **options):
        window = self.window(**options)
        window.open("/seats/1")
        window.until(window.is_live, "a live hall")
        window.says("free", "free")
        window.log_in(person)
        return window

    def user(self, name):
        return self.lab.post("/users/login", {"userId": name, "userPw": "user-demo-1"})

    def sell(self, user, location, number):
        """The reservation's id."""
        return self.lab.post("/customer/performances/1/reservations", {"userId": user["id"], "seatLocation": location, "seatNumber": number},
                             user["accessToken"])["content"]["id"]

    def owners(self, location, number):
        admin = self.lab.post("/councils/login", {"username": "admin", "password": "admin-demo-1"})["accessToken"]
        sold = self.lab.get("/business/performances/1/reservations?perPage=500", admin)["items"]
        return [one["user"]["userId"] for one in sold if (one["seat"]["location"], one["seat"]["number"]) == (location, number)]

    def test_a_seat_is_bought_seen_by_others_and_cancelled(self):
        buyer = self.watching("user16")
        other = self.window(language="ko")
        other.open("/seats/1")
        other.until(other.is_live, "a live hall")
        other.says("free", "남음")
        before = other.text("sold")
        buyer.choose("B", 7)
        buyer.click("buy")
        buyer.says("notice", "It is yours")
        buyer.says("mine", "B 7")
        self.assertEqual(self.owners("B", 7), ["user16"])
        other.until(lambda: other.text("sold") != before, "the sale in the other window")
        buyer.click("cancel")
        buyer.says("mine", "no seats yet")
        other.until(lambda: other.text("sold") == before, "the cancellation in the other window")
        self.assertEqual(self.owners("B", 7), [])

    def test_two_who_fight_for_one_seat_one_wins_and_the_other_is_told(self):
        rivals = [self.watching("user2"), self.watching("user3")]
        for rival in rivals:
            rival.choose("A", 55)
            rival.text("buy")
        both = threading.Barrier(2)

        def click(rival):
            both.wait()
            rival.script("document.querySelector('[data-test=\"buy\"]').click()")

        clicks = [threading.Thread(target=click, args=(rival,)) for rival in rivals]
        for one in clicks:
            one.start()
        for one in clicks:
            one.join()
        said = [rival.text("notice") for rival in rivals]
        self.assertEqual(sum("It is yours" in text for text in said), 1, said)
        self.assertEqual(len(self.owners("A", 55)), 1)
        loser = next(rival for rival, text in zip(rivals, said) if "It is yours" not in text)
        loser.says("notice", "nearby")
        near = loser.text("nearby")
        loser.click("nearby")
        loser.says("chosen", near)
        loser.click("buy")
        loser.says("notice", "It is yours")

    def test_a_seat_is_chosen_and_bought_by_keyboard(self):
        window = self.watching("user4")
        right, down, enter = "\ue014", "\ue015", "\ue007"
        window.browser.find_element("tag name", "canvas").send_keys(right + right + down + enter)
        window.says("chosen", "A 12")
        window.click("buy")
        window.says("mine", "A 12")

    def test_a_loser_is_told_when_the_seat_is_sold_and_when_it_is_free_again(self):
        window = self.watching("user5")
        window.choose("B", 50)
        # As while a rival holds the seat's lock.
        window.script("const send = window.fetch; window.fetch = (path, options) => { if (options?.method !== 'POST') return send(path, options);"
                      " window.fetch = send; return new Response(JSON.stringify({code: 'SEAT_BUSY', message: 'busy'}), {status: 409}); }")
        window.click("buy")
        window.says("notice", "may still come free")
        window.text("again")
        rival = self.user("user6")
        sold = self.sell(rival, "B", 50)
        window.says("notice", "a moment faster")
        self.assertEqual(window.texts("again"), [])
        self.lab.delete(f"/customer/reservations/{sold}", rival["accessToken"])
        window.until(lambda: window.texts("notice") == [], "nothing to complain of")
        window.click("buy")
        window.says("notice", "It is yours")

    def test_the_focus_stays_with_the_seat(self):
        window = self.watching("user7")
        window.choose("B", 60)
        window.press("buy")
        window.says("notice", "It is yours")
        window.until(lambda: window.focused() == "notice", "the focus on the notice")
        window.press("cancel")
        window.says("mine", "no seats yet")
        window.until(lambda: window.focused() == "h2", "the focus on the heading of the list")

    def test_one_who_is_logged_out_is_told(self):
        window = self.watching("user8")
        window.break_token("user")
        window.open("/seats/1")
        window.says("ended", "logged out")
        window.until(window.is_live, "a live hall")
        window.choose("B", 61)
        window.press("to-login")
        self.assertEqual(window.focused(), "demo")
        window.log_in("user8")
        window.text("buy")

    def test_a_login_that_ends_before_the_click_is_told(self):
        window = self.watching("user9")
        window.choose("B", 62)
        window.text("buy")
        window.script("const send = window.fetch; window.fetch = (path, options) => {"
                      " if (options?.headers?.Authorization) options.headers.Authorization += 'x'; return send(path, options); }")
        window.press("buy")
        window.says("ended", "logged out")
        self.assertEqual(self.owners("B", 62), [])

    def test_a_festival_that_does_not_exist_is_told_and_the_hall_is_shown(self):
        for festival in ("abc", "999999"):
            with self.subTest(festival=festival):
                window = self.window()
                window.open(f"/seats/1?festival={festival}")
                window.says("bad-festival", festival)
                window.until(window.is_live, "a live hall")
                window.choose("B", 63)
        window.open("/seats/1?festival=2")
        window.until(window.is_live, "a live hall")
        self.assertEqual(window.texts("bad-festival"), [])

    def test_on_a_phone_the_login_is_above_the_map_and_nothing_covers_seats(self):
        for width, height in ((390, 844), (1280, 800)):
            with self.subTest(width=width):
                window = self.window(width=width, height=height)
                window.open("/seats/1")
                window.until(window.is_live, "a live hall")
                canvas = "const map = document.querySelector('canvas').getBoundingClientRect();"
                if width < 600:
                    self.assertTrue(window.script(canvas + "return document.querySelector('.account').getBoundingClientRect().bottom <= map.top"))
                over = window.script(canvas + "return [...document.querySelectorAll('main button, main input, main select')].filter((one) => {"
                                     "const box = one.getBoundingClientRect();"
                                     "return one.checkVisibility() && box.left < map.right && map.left < box.right && box.top < map.bottom && map.top < box.bottom; })"
                                     ".map((one) => one.innerText)")
                self.assertEqual(over, [])
                window.choose("B", 64)
                window.click("to-login")
                window.until(lambda: window.script("return document.querySelector('[name=demo]').checkVisibility()"), "the form")

    def test_a_toast_covers_nothing_that_can_be_pressed(self):
        for number, (width, height) in enumerate(((390, 844), (1280, 800)), start=70):
            with self.subTest(width=width):
                window = self.watching("user10", width=width, height=height)
                window.choose("B", number)
                window.click("buy")
                window.says("mine", f"B {number}")
                window.click("cancel")
                window.says("mine", "no seats yet")
                toasts, covered = window.covered_by_toasts()
                self.assertGreaterEqual(toasts, 1)
                self.assertEqual(covered, [])

    def test_a_page_opens_one_stream(self):
        window = self.window()
        window.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source":
            "const send = window.fetch; window.asked = [];"
            "window.fetch = (path, options) => { window.asked.push(String(path)); return send(path, options); }"})
        window.open("/seats/1")
        window.until(window.is_live, "a live hall")
        self.assertEqual([path.split("?")[0] for path in window.script("return asked") if "/events" in path],
                         ["/performances/1/seats/events"])

    def test_a_page_that_was_left_holds_no_connection(self):
        window = self.window()
        window.browser.set_page_load_timeout(PATIENCE)
        for _ in range(8):  # a browser opens six connections per origin
            window.open("/seats/1")
            window.until(window.is_live, "a live hall")
            window.browser.get("about:blank")
        window.browser.back()
        window.until(window.is_live, "a live hall after coming back")

    def test_a_performance_that_does_not_exist_is_told_kindly(self):
        window = self.window()
        window.open("/seats/999999")
        window.until(lambda: "no such performance" in window.script("return document.querySelector('main').innerText"), "a kind word")
