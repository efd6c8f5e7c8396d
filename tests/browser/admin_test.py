"""festabook's admin page from login to the last toast, by a page that makes the same calls from another origin."""

import functools
import http.server
import pathlib
import threading

from harness import Window, WindowTest, problems

ORIGIN = "http://localhost:5173"  # the one that ./dev run allows


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class AdminPage(WindowTest):
    @classmethod
    def setUpClass(cls):
        folder = str(pathlib.Path(__file__).parent)
        cls.server = http.server.ThreadingHTTPServer(("localhost", 5173), functools.partial(Quiet, directory=folder))
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()

    def setUp(self):
        token = self.lab.post("/councils/login", {"username": "council1", "password": "council-demo-1"})["accessToken"]
        self.add = functools.partial(self.lab.post, token=token)

    def admin(self):
        """The page, logged in."""
        window = Window(ORIGIN, language="ko")
        self.addCleanup(window.browser.quit)
        # Requests go to the lab; what the console says of one has more than its address.
        self.addCleanup(lambda: self.assertEqual(
            [one for one in problems(window.browser, ORIGIN, self.expected)
             if " " in one or not one.startswith(self.lab.address)], []))
        window.open(f"/admin_page.html?host={self.lab.address}")
        window.type("username", "council1")
        window.type("password", "council-demo-1")
        window.click("enter")
        window.says("university", "페스타대학교 봄 대동제 0")
        return window

    def council(self):
        """The council's page, listening."""
        window = self.window()
        window.open("/council")
        window.log_in("council1")
        window.until(lambda: window.script("return document.documentElement.dataset.notifications") == "open", "a stream")
        return window

    def hall(self):
        """A hall, listening."""
        window = self.window()
        window.open("/seats/1")
        window.until(window.is_live, "a live hall")
        return window

    def test_home_and_every_screen(self):
        self.add("/lineups", {"name": "코루틴 밴드", "imageUrl": None, "performanceAt": "2026-05-20T18:00:00"})
        date = self.add("/event-dates", {"date": "2020-05-20"})["eventDateId"]
        self.add("/event-dates/events",
                 {"eventDateId": date, "startTime": "10:00", "endTime": "11:00", "title": "개막", "location": "무대"})
        self.add("/questions", {"question": "주차?", "answer": "후문"})
        self.add("/lost-items", {"imageUrl": "https://example.com/a.jpg", "storageLocation": "본부"})
        window = self.admin()
        window.says("lineup", "코루틴 밴드 0")
        for screen, text in (("schedule", "10:00 개막 COMPLETED"), ("questions", "1 주차?"), ("lost", "본부 PENDING")):
            window.click(f"to-{screen}")
            window.says(screen, text)

    def test_a_notification_is_sent_once_and_heard_as_a_toast(self):
        self.add("/announcements", {"title": "우천 취소", "content": "야외 공연", "isPinned": False})
        council, seats = self.council(), self.hall()
        window = self.admin()
        window.click("to-announcements")
        window.says("announcements", "우천 취소")
        window.script("[...document.querySelectorAll('[data-test=announcements]')].find((one) => one.innerText === '우천 취소').click()")
        window.says("toast", "sent 우천 취소")
        for one in (council, seats):
            one.until(lambda: one.script("return [...document.querySelectorAll('.toast')].some((t) => t.innerText.includes('우천 취소'))"),
                      "the toast")
        self.expected = ("429 (Too Many Requests)",)
        window.script("document.querySelector('[data-test=toast]').textContent = ''")
        window.script("[...document.querySelectorAll('[data-test=announcements]')].find((one) => one.innerText === '우천 취소').click()")
        window.until(lambda: window.text("toast").strip(), "an answer")
        self.assertNotIn("sent", window.text("toast"), "it was sent a second time")
