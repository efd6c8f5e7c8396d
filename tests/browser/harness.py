"""A lab and a browser for tests of the pages."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 60  # seconds; a test waits for conditions, and fails after this


class Lab:
    """`./dev run --lab` on a port and in a folder of its own."""

    def __init__(self, port):
        self.address = f"http://127.0.0.1:{port}"
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        os.chmod(self._folder.name, 0o755)
        self._out = open(pathlib.Path(self._folder.name, "out"), "w+", encoding="utf-8")
        self._process = subprocess.Popen(
            ["./dev", "run", "--lab"], cwd=ROOT, stdout=self._out, stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, "FESTA_PORT": str(port), "FESTA_RUN_DIR": self._folder.name})
        deadline = time.monotonic() + 180
        while "\nready " not in self._said():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the lab did not start:\n{self._said()}")
            time.sleep(0.1)

    def _said(self):
        return pathlib.Path(self._folder.name, "out").read_text(encoding="utf-8")

    def stop(self):
        self._process.send_signal(signal.SIGTERM)
        status = self._process.wait(timeout=60)
        said = self._said()
        self._out.close()
        self._folder.cleanup()
        if status != 0:
            raise RuntimeError(f"the lab ended with {status}:\n{said}")

    def post(self, path, body, token=None, **headers):
        """An answer's JSON."""
        return self._ask(urllib.request.Request(self.address + path, json.dumps(body).encode(),
                                                {"Content-Type": "application/json", **headers}, method="POST"), token)

    def delete(self, path, token):
        with self._open(urllib.request.Request(self.address + path, method="DELETE"), token):
            pass

    def clear_board(self, festival):
        """Deletes all announcements of festival 1 or 2."""
        council = self.post("/councils/login", {"username": f"council{festival}", "password": "council-demo-1"})["accessToken"]
        listed = self.get("/announcements", festival=str(festival))
        for one in listed["pinned"] + listed["unpinned"]:
            self.delete(f"/announcements/{one['announcementId']}", council)

    def get(self, path, token=None, **headers):
        return self._ask(urllib.request.Request(self.address + path, headers=headers), token)

    def settings(self):
        """Of the running service, as variables."""
        lines = pathlib.Path(self._folder.name, "lab.env").read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)

    @staticmethod
    def _open(request, token):
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request)

    def _ask(self, request, token):
        with self._open(request, token) as answer:
            return json.load(answer)


def new_browser(width=1280, height=1000, dark=False, language="en"):
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync", f"--window-size={width},{height}", f"--lang={language}", f"--accept-lang={language}"):
        options.add_argument(argument)
    options.add_experimental_option("prefs", {"intl.accept_languages": language})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options)
    set_look(browser, width, height, dark)
    return browser


def set_look(browser, width, height, dark):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                            {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})


def problems(browser, address, expected=()):
    """Errors of the console but those that contain one of `expected`, and requests that left for elsewhere than `address`."""
    found = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    found = [text for text in found if not any(part in text for part in expected)]
    asked = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [one["params"]["request"]["url"] for one in asked if one["method"] == "Network.requestWillBeSent"]
    return found + [url for url in urls if not url.startswith((address, "data:", "blob:"))]


class Window:
    """One of several browsers of a test. What it reads and clicks it finds by `data-test`, by script: a page that draws itself anew
    may replace an element between finding and reading it."""

    def __init__(self, address, **look):
        self.address = address
        self.browser = new_browser(**look)

    def open(self, path):
        self.browser.get(self.address + path)

    def script(self, text, *arguments):
        return self.browser.execute_script(text, *arguments)

    def until(self, condition, what):
        return WebDriverWait(self.browser, PATIENCE, 0.05).until(lambda _: condition(), f"waited in vain for {what}")

    def texts(self, name):
        """Of all that can be seen."""
        return self.script("return [...document.querySelectorAll(`[data-test=\"${arguments[0]}\"]`)]"
                           ".filter((one) => one.checkVisibility()).map((one) => one.innerText)", name)

    def text(self, name):
        """Of the first, as soon as there is one."""
        return self.until(lambda: self.texts(name), name)[0]

    def says(self, name, text):
        self.until(lambda: any(text in one for one in self.texts(name)), f"{name} that says {text!r}")

    def click(self, name):
        """The first, as soon as it can be used."""
        self.until(lambda: self.script(
            "const one = document.querySelector(`[data-test=\"${arguments[0]}\"]`);"
            "if (!one || one.disabled || one.closest('[aria-busy=true]')) return false;"
            "one.click(); return true", name), name)

    def type(self, name, text):
        field = self.until(lambda: self.browser.find_elements(By.NAME, name), f"the field {name}")[0]
        field.clear()
        field.send_keys(text)

    def log_in(self, person):
        self.until(lambda: self.browser.find_elements(By.NAME, "demo"), "the demo accounts")
        self.script("document.querySelector('[name=demo]').value = arguments[0]", person)
        self.click("demo-login")
        self.says("person", person)

    def choose(self, location, number):
        """A seat of the hall, by its name."""
        self.until(lambda: self.script("return document.querySelector('[name=section] option')"), "the sections")
        self.script("document.querySelector('[name=section]').value = arguments[0]", location)
        self.type("number", str(number))
        self.browser.find_element(By.NAME, "number").submit()
        self.says("chosen", f"{location} {number}")

    def focused(self):
        """Of the element with the focus: its data-test, else its name, else its tag."""
        return self.script("const one = document.activeElement; return one.dataset.test ?? one.getAttribute('name') ?? one.tagName.toLowerCase()")

    def press(self, name):
        """As a person at a keyboard: the first such element gets the focus and then Enter."""
        self.until(lambda: self.script("const one = document.querySelector(`[data-test=\"${arguments[0]}\"]`);"
                                       "if (!one || one.closest('[aria-busy=true]')) return false; one.focus(); return true", name), name)
        self.browser.switch_to.active_element.send_keys("\ue007")

    def break_token(self, realm):
        """The page keeps a token that the service does not accept."""
        self.script("const key = `festa.${arguments[0]}`; sessionStorage.setItem(key, sessionStorage.getItem(key) + 'x')", realm)

    def covered_by_toasts(self):
        """How many toasts there are, and what can be pressed and lies under one while the page is scrolled from its top to its end."""
        return self.browser.execute_async_script("""
            const done = arguments[arguments.length - 1];
            const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
            const pressed = 'main a[href], main button, main input, main select, main textarea, main summary, main canvas';
            const frame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
            (async () => {
              const covered = [];
              for (let part = 0; part <= 8; ++part) {
                scrollTo(0, (document.documentElement.scrollHeight - innerHeight) * part / 8);
                await frame();
                const toasts = [...document.querySelectorAll('.toast')].map((one) => one.getBoundingClientRect());
                covered.push(...[...document.querySelectorAll(pressed)]
                  .filter((one) => one.checkVisibility() && toasts.some((toast) => meets(toast, one.getBoundingClientRect())))
                  .map((one) => one.innerText || one.name || one.tagName));
              }
              done([document.querySelectorAll('.toast').length, covered]);
            })()""")

    def is_live(self):
        return self.script("return document.querySelector('[data-live]')?.dataset.live === 'yes'")


class WindowTest(unittest.TestCase):
    """A test that opens as many windows as it needs. At its end none may have a problem but those of `self.expected`."""

    expected = ()

    @property
    def lab(self):
        return PageTest.lab

    def window(self, address=None, **look):
        window = Window(address or self.lab.address, **look)
        self.addCleanup(window.browser.quit)
        self.addCleanup(lambda: self.assertEqual(problems(window.browser, window.address, self.expected), []))
        return window


class PageTest(unittest.TestCase):
    """A browser for each test. At its end the console must have no errors, and no request may have left the machine."""

    lab = None  # set by run.py

    def setUp(self):
        self.browser = new_browser()
        self.addCleanup(self.browser.quit)

    def tearDown(self):
        self.assertEqual(problems(self.browser, self.lab.address), [])

    def open(self, path):
        self.browser.get(self.lab.address + path)

    def all(self, css):
        return self.browser.find_elements(By.CSS_SELECTOR, css)

    def one(self, css):
        """The first element that fits, when there is one."""
        self.until(lambda: self.all(css), css)
        return self.all(css)[0]

    def named(self, name):
        return self.one(f'[data-test="{name}"]')

    def until(self, condition, what="a condition"):
        WebDriverWait(self.browser, PATIENCE, 0.05).until(lambda _: condition(), f"waited in vain for {what}")

    def log_in_as_demo(self):
        self.named("demo-login").click()
