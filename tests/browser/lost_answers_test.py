"""A request that was carried out and whose answer was lost: trying again has no second effect, and people are told the truth."""

from harness import WindowTest
from network import Network

RESERVATIONS = "/customer/performances/1/reservations"


class LostAnswers(WindowTest):
    expected = ("ERR_EMPTY_RESPONSE", "ERR_CONNECTION", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_NETWORK", "409 (Conflict)")

    def setUp(self):
        self.network = Network(self.lab.address)
        self.addCleanup(self.network.stop)

    def buyer(self, person, number):
        """Before the click."""
        window = self.window(self.network.address)
        window.open("/seats/1")
        window.until(window.is_live, "a live hall")
        window.log_in(person)
        window.choose("D", number)
        window.text("buy")
        return window

    def user(self, person):
        return self.lab.post("/users/login", {"userId": person, "userPw": "user-demo-1"})

    def seats_of(self, person):
        user = self.user(person)
        return [(one["seat"]["location"], one["seat"]["number"])
                for one in self.lab.get(RESERVATIONS, user["accessToken"])["items"]]

    def lose_the_sale(self, window, person, number):
        self.network.lose_next("POST", RESERVATIONS)
        window.click("buy")
        window.text("notice")
        window.until(lambda: ("D", number) in self.seats_of(person), "the sale")

    def load_again(self, window, person, number):
        """A purchase is under way, and the page is loaded again before it is carried out. Returns what carries it out."""
        carry_out = self.network.delay_next("POST", RESERVATIONS)
        window.click("buy")
        window.says("notice", "cannot be reached")
        window.open("/seats/1")
        window.until(window.is_live, "a live hall")
        window.says("person", person)
        window.choose("D", number)
        window.text("buy")
        return carry_out

    def test_trying_again_tells_the_owner_that_the_seat_is_bought(self):
        window = self.buyer("user11", 21)
        self.network.refuse("/events")  # nothing else tells the page
        self.lose_the_sale(window, "user11", 21)
        window.says("notice", "cannot be reached")
        window.click("again")
        window.says("notice", "It is yours")
        window.says("mine", "D 21")
        self.assertEqual(self.seats_of("user11"), [("D", 21)])
        keys = self.network.keys("POST")[-2:]
        self.assertEqual(keys[0], keys[1])

    def test_a_live_hall_tells_the_owner_without_another_try(self):
        window = self.buyer("user12", 22)
        self.lose_the_sale(window, "user12", 22)
        window.says("notice", "It is yours")
        self.assertEqual(self.seats_of("user12"), [("D", 22)])

    def test_a_page_that_was_loaded_again_asks_with_the_same_key(self):
        window = self.buyer("user13", 23)
        carry_out = self.load_again(window, "user13", 23)
        self.network.refuse("/events")
        carry_out()
        window.until(lambda: self.seats_of("user13") == [("D", 23)], "the sale")
        window.click("buy")
        window.says("notice", "It is yours")
        keys = self.network.keys("POST")[-2:]
        self.assertEqual(keys[0], keys[1])
        self.assertEqual(self.seats_of("user13"), [("D", 23)])

    def test_a_page_that_was_loaded_again_takes_a_late_sale_for_its_own(self):
        window = self.buyer("user15", 25)
        self.load_again(window, "user15", 25)()
        window.says("notice", "It is yours")
        self.assertEqual(self.seats_of("user15"), [("D", 25)])

    def buy_elsewhere(self, person, number):
        """On another device of the same person."""
        self.lab.post(RESERVATIONS, {"seatLocation": "D", "seatNumber": number}, self.user(person)["accessToken"])

    def test_a_seat_that_another_window_has_bought_is_not_called_lost(self):
        window = self.buyer("user18", 26)
        self.network.refuse("/events")
        self.buy_elsewhere("user18", 26)
        window.click("buy")
        window.says("notice", "It is yours")
        window.says("mine", "D 26")
        self.assertEqual(self.seats_of("user18"), [("D", 26)])

    def test_a_chosen_seat_that_another_window_buys_is_not_called_lost(self):
        window = self.buyer("user17", 27)
        self.buy_elsewhere("user17", 27)
        window.says("notice", "It is yours")
        window.says("mine", "D 27")

    def test_it_is_not_guessed_who_has_bought_the_chosen_seat(self):
        window = self.buyer("user19", 28)
        self.network.refuse("/reservations")
        asked = len(self.network.asked)
        self.buy_elsewhere("user19", 28)
        window.until(lambda: "This seat is sold" in window.script("return document.body.innerText"), "the sold seat")
        window.until(lambda: ("GET", RESERVATIONS) in [one[:2] for one in self.network.asked[asked:]], "the question whose it is")
        self.assertEqual(window.texts("notice"), [])

    def test_a_seat_that_was_given_back_is_bought_anew(self):
        window = self.buyer("user14", 24)
        self.lose_the_sale(window, "user14", 24)
        window.says("mine", "D 24")
        window.click("cancel")
        window.says("mine", "no seats yet")
        window.choose("D", 24)
        window.click("buy")
        window.says("mine", "D 24")
        self.assertEqual(self.seats_of("user14"), [("D", 24)])

    def test_a_pin_whose_answer_was_lost_can_be_taken_back_and_wished_again(self):
        council = self.lab.post("/councils/login", {"username": "council2", "password": "council-demo-1"})["accessToken"]
        self.lab.clear_board(2)
        made = self.lab.post("/announcements", {"title": "To and fro", "content": "pinned and not"}, council)["announcementId"]
        window = self.window(self.network.address)
        window.open("/council")
        window.log_in("council2")
        window.says("note", "To and fro")
        self.network.lose_next("PATCH", f"/announcements/{made}/pin")
        window.click("pin")
        window.says("pinned", "To and fro")
        window.click("unpin")
        window.says("note", "To and fro")
        window.click("pin")
        window.says("pinned", "To and fro")

    def test_an_edit_whose_answer_was_lost_can_be_made_again_after_another(self):
        council = self.lab.post("/councils/login", {"username": "council2", "password": "council-demo-1"})["accessToken"]
        self.lab.clear_board(2)
        made = self.lab.post("/announcements", {"title": "First words", "content": "said often"}, council)["announcementId"]
        window = self.window(self.network.address)
        window.open("/council")
        window.log_in("council2")
        window.says("note", "First words")
        window.click("edit")
        self.network.lose_next("PATCH", f"/announcements/{made}")
        window.type("title", "Other words")
        window.click("publish")
        window.says("error", "cannot be reached")
        window.says("note", "Other words")
        for words in ("First words", "Other words"):
            window.type("title", words)
            window.click("publish")
            window.until(lambda: window.script("return document.querySelector('[name=title]').value") == "", "an empty form")
            window.says("note", words)
            window.click("edit")

    def test_a_board_that_gets_no_answer_is_not_called_live(self):
        window = self.window(self.network.address)
        window.open("/council")
        window.log_in("council2")
        window.until(window.is_live, "a live board")
        self.network.silence("/announcements")
        window.until(lambda: not window.is_live(), "a board that is not live")
        self.network.mend()
        window.until(window.is_live, "a board that is live again")

    def test_an_announcement_is_published_once(self):
        window = self.window(self.network.address)
        window.open("/council")
        window.log_in("council2")
        window.type("title", "Once")
        window.type("content", "One and only.")
        self.network.lose_next("POST", "/announcements")
        window.click("publish")
        window.says("error", "cannot be reached")
        window.click("publish")
        window.until(lambda: window.script("return document.querySelector('[name=title]').value") == "", "an empty form")
        listed = self.lab.get("/announcements", festival="2")
        self.assertEqual([one["title"] for one in listed["pinned"] + listed["unpinned"]].count("Once"), 1)

    def test_an_announcement_that_was_published_and_deleted_can_be_published_again(self):
        self.lab.clear_board(2)
        window = self.window(self.network.address)
        window.open("/council")
        window.log_in("council2")
        window.says("none", "no announcements yet")
        window.type("title", "Twice")
        window.type("content", "Deleted in between.")
        self.network.lose_next("POST", "/announcements")
        window.click("publish")
        window.says("error", "cannot be reached")
        window.says("note", "Twice")
        self.lab.clear_board(2)
        window.says("none", "no announcements yet")
        window.click("publish")
        window.until(lambda: window.script("return document.querySelector('[name=title]').value") == "", "an empty form")
        self.assertEqual([one["title"] for one in self.lab.get("/announcements", festival="2")["unpinned"]], ["Twice"])
