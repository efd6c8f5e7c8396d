"""The first page."""

from harness import WindowTest


class HomePage(WindowTest):
    def test_it_says_what_this_is_and_links_to_every_page(self):
        window = self.window()
        window.open("/")
        window.text("performance")
        links = window.script("return [...document.querySelectorAll('a[href]')].map((one) => one.getAttribute('href'))")
        self.assertLessEqual({"/", "/seats/1", "/council", "/lab", "/operator", "/docs"}, set(links))
        heading = "return document.querySelector('h1').innerText"
        before = window.script(heading)
        window.click("language")
        window.until(lambda: window.script(heading) != before, "the other language")
        self.assertEqual(window.script("return document.documentElement.lang"), "ko")
