"""Every page as people use it, logged in and not, in both languages, on a phone and a wide screen, light and dark, checked by
axe-core; streams that come back after a restart and after a lost network. AXE names axe.min.js; ./dev test fetches it."""

import itertools
import os
import pathlib
import socket
import subprocess
import time
import urllib.request

from harness import PATIENCE, ROOT, WindowTest, set_look
from network import Network

PHONE, WIDE = (390, 844), (1280, 900)
# Each language on each screen; with TEST_SIZE=full each of them in both colours.
LOOKS = [("en", PHONE, False), ("en", WIDE, True), ("ko", PHONE, True), ("ko", WIDE, False)]
if os.environ.get("TEST_SIZE") == "full":
    LOOKS = list(itertools.product(("en", "ko"), (PHONE, WIDE), (False, True)))


class SecondInstance:
    """Beside the lab's own, on its database, so that it can be stopped."""

    def __init__(self, lab):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self._lab = lab
        self.start()

    def start(self):
        self._process = subprocess.Popen(
            [ROOT / ".build/release/festabook", ROOT / "app/config.json"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, **self._lab.settings(), "FESTA_HTTP_PORT": str(self.port), "FESTA_HTTP_DRAIN_DELAY_MS": "0"})
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the second instance did not start")
            time.sleep(0.05)

    def _answers(self):
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(self.address + "/readyz") as answer:
                return answer.status == 200
        except OSError:
            return False

    def stop(self):
        self._process.terminate()
        self._process.wait(60)


class EveryLook(WindowTest):
    expected = ("404 (Not Found)", "ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE")

    def violations(self, window):
        self.assertTrue("AXE" in os.environ, "AXE has to name axe.min.js; ./dev test fetches it")
        window.browser.execute_cdp_cmd("Runtime.evaluate", {"expression": pathlib.Path(os.environ["AXE"]).read_text(encoding="utf-8")})
        window.browser.set_script_timeout(60)
        result = window.browser.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            "axe.run().then(done, (error) => done({violations: [{id: String(error), impact: 'serious', nodes: []}]}))")
        return [f"{one['id']}: {[node['target'] for node in one['nodes']][:3]}" for one in result["violations"]
                if one["impact"] in ("serious", "critical")]

    def finished_race(self):
        """The id of a race that broke its rule, so that its page shows the overlap, too."""
        admin = self.lab.post("/councils/login", {"username": "admin", "password": "admin-demo-1"})["accessToken"]
        for seed in range(1, 6):  # whether two requests overlap is chance
            race = self.lab.post("/lab/races", {"what": "pins", "people": 100, "strategy": "none", "against": "memory", "seed": seed},
                                 admin, Origin=self.lab.address)["raceId"]
            deadline = time.monotonic() + PATIENCE
            while (told := self.lab.get(f"/lab/races/{race}"))["state"] == "running":
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            if told["sides"][0]["tooMany"] > 0:
                return race
        return self.fail("five races without a lock kept the rule")

    def states(self, race):
        """Of all pages: what is looked at, the path, and what brings its page there. Those without a login come first."""
        def hall(window):
            window.until(window.is_live, "a live hall")

        def choose(window):
            hall(window)
            window.log_in("user1")
            window.choose("C", 4)
            window.text("buy")

        def desk(window):
            window.log_in("council1")
            window.until(window.is_live, "a live board")
            if not window.texts("note"):
                window.type("title", "Doors open at six")
                window.type("content", "Bring your student card.")
                window.click("publish")
            window.text("note")

        def operate(window):
            window.script("sessionStorage.clear()")  # of the council
            window.browser.refresh()
            window.click("demo-login")
            window.text("instance")

        def race_form(window):
            window.text("start")

        def answer(window):
            window.click("send")
            window.text("answer")

        def login(window):
            window.text("demo-login")

        def nothing(window):
            window.until(lambda: window.script("return document.querySelector('h1')"), "the heading")

        return (("home", "/", lambda window: window.text("performance")), ("nothing", "/nowhere", nothing), ("hall", "/seats/1", hall), ("council's login", "/council", login),
                ("race", f"/lab#{race}", lambda window: window.text("overlap")), ("operator's login", "/operator", login),
                ("call", "/docs#createCoupon", answer), ("purchase", "/seats/1", choose), ("desk", "/council", desk), ("operator", "/operator", operate), ("form of a race", "/lab", race_form))

    def test_no_serious_violation_and_nothing_beside_the_screen(self):
        states = self.states(self.finished_race())
        window = self.window()
        for language, (width, height), dark in LOOKS:
            set_look(window.browser, width, height, dark)
            window.open("/docs")
            window.script("sessionStorage.clear(); localStorage.setItem('festa.language', arguments[0])", language)
            for name, path, use in states:
                with self.subTest(state=name, language=language, width=width, dark=dark):
                    window.browser.get("about:blank")  # another fragment alone would load nothing
                    window.open(path)
                    use(window)
                    self.assertEqual(window.script("return document.documentElement.lang"), language)
                    self.assertEqual(self.violations(window), [])
                    self.assertLessEqual(window.script("return document.documentElement.scrollWidth"), width)

    def test_a_violation_would_be_found(self):
        window = self.window()
        window.open("/")
        window.text("performance")
        window.script("document.querySelector('main').append(document.createElement('input'))")
        self.assertEqual([one.split(":")[0] for one in self.violations(window)], ["label"])

    def sell(self, person, number):
        user = self.lab.post("/users/login", {"userId": person, "userPw": "user-demo-1"})
        self.lab.post("/customer/performances/1/reservations", {"userId": user["id"], "seatLocation": "E", "seatNumber": number},
                      user["accessToken"])

    def test_a_hall_lives_on_when_the_network_was_away(self):
        network = Network(self.lab.address)
        self.addCleanup(network.stop)
        window = self.window(network.address)
        window.open("/seats/1")
        window.until(window.is_live, "a live hall")
        before = window.text("sold")
        network.cut()
        window.until(lambda: not window.is_live(), "the page to notice")
        self.sell("user8", 99)
        network.mend()
        window.until(window.is_live, "the page to come back")
        window.until(lambda: window.text("sold") != before, "what happened meanwhile")

    def test_a_hall_lives_on_when_the_service_restarts(self):
        service = SecondInstance(self.lab)
        self.addCleanup(service.stop)
        window = self.window(service.address)
        window.open("/seats/1")
        window.until(window.is_live, "a live hall")
        before = window.text("sold")
        service.stop()
        window.until(lambda: not window.is_live(), "the page to notice")
        self.sell("user9", 100)
        service.start()
        window.until(window.is_live, "the page to come back")
        window.until(lambda: window.text("sold") != before, "what happened meanwhile")
