"""A council's desk: three pins, what others write, errors in the person's language, and a focus that is never lost."""

from harness import WindowTest
from network import Network


class CouncilPage(WindowTest):
    expected = ("409 (Conflict)", "422 (Unprocessable", "401 (Unauthorized)")  # the browser itself writes such lines

    def desk(self, person, address=None, **look):
        window = self.window(address, **look)
        window.open("/council")
        window.log_in(person)
        window.until(window.is_live, "a live board")
        return window

    def setUp(self):
        for festival in (1, 2):
            self.lab.clear_board(festival)

    def publish(self, window, title, pinned=False):
        window.type("title", title)
        window.type("content", "Doors open at six.")
        window.script("document.querySelector('[name=pin]').checked = arguments[0]", pinned)
        window.press("publish")
        window.says("pinned" if pinned else "note", title)

    def full(self, address=None):
        """A desk with three pins whose fourth was refused."""
        window = self.desk("council2", address)
        for number in range(1, 4):
            self.publish(window, f"Notice {number}", pinned=True)
        window.type("title", "Notice 4")
        window.type("content", "Doors open at six.")
        window.script("document.querySelector('[name=pin]').checked = true")
        window.press("publish")
        window.says("full", "Three pins")
        return window

    def test_the_fourth_pin_is_explained_and_takes_a_place_by_one_call(self):
        network = Network(self.lab.address)
        self.addCleanup(network.stop)
        window = self.full(network.address)
        self.assertEqual(len(window.texts("pinned")), 3)
        network.asked.clear()
        window.press("swap")
        window.until(lambda: any("Notice 4" in one for one in window.texts("pinned")), "the fourth among the pinned")
        window.says("pin-count", "3 of 3")
        self.assertEqual([method for method, *_ in network.asked if method != "GET"], ["POST"])
        window.until(lambda: window.focused() == "title", "the focus in the form")
        # The one that went down comes back, instead of another one.
        network.asked.clear()
        window.press("pin")
        window.says("full", "Three pins")
        window.press("swap")
        window.until(lambda: any("Notice 3" in one for one in window.texts("pinned")), "the third among the pinned")
        self.assertEqual([method for method, *_ in network.asked if method != "GET"], ["PATCH", "PATCH"])
        window.until(lambda: window.focused() == "unpin", "the focus on the one that was pinned")
        self.assertEqual(len(self.lab.get("/announcements", festival="2")["pinned"]), 3)

    def test_with_three_pins_and_no_other_it_does_not_say_that_there_are_none(self):
        window = self.full()
        window.says("none", "all of them are pinned")
        self.lab.clear_board(2)
        window.says("none", "no announcements yet")

    def test_what_another_browser_writes_is_shown_and_takes_neither_focus_nor_text(self):
        writer, other = self.desk("council1"), self.desk("council1", language="ko")
        self.publish(writer, "First")
        other.says("note", "First")
        other.type("title", "half a ti")
        other.script("document.querySelector('[data-test=delete]').focus()")
        self.publish(writer, "Second", pinned=True)
        other.says("pinned", "Second")
        self.assertEqual(other.focused(), "delete")
        self.assertIn("First", other.script("return document.activeElement.closest('article').innerText"))
        self.assertEqual(other.script("return document.querySelector('[name=title]').value"), "half a ti")

    def test_a_board_that_has_not_changed_is_not_sent_again(self):
        network = Network(self.lab.address)
        self.addCleanup(network.stop)
        window = self.desk("council1", network.address)
        self.publish(window, "Once")
        network.asked.clear()
        window.until(lambda: sum(path == "/announcements" for _, path, _ in network.asked) >= 3, "three more looks")
        self.assertEqual(network.statuses("/announcements")[-2:], [304, 304])

    def test_the_focus_is_where_a_person_goes_on(self):
        window = self.full()
        self.assertTrue(window.script("return document.activeElement.contains(document.querySelector('[data-test=full]'))"))
        window.type("title", "x" * 51)
        window.press("publish")
        window.text("title-error")
        self.assertEqual(window.focused(), "title")
        for title in ("One", "Two"):
            self.publish(window, title)
        self.assertEqual(window.focused(), "publish")
        in_note = "return document.activeElement.closest('article')?.innerText ?? document.activeElement.innerText"
        window.script("[...document.querySelectorAll('[data-test=note] [data-test=delete]')][0].focus()")
        window.browser.switch_to.active_element.send_keys("\ue007")
        window.until(lambda: window.focused() == "delete-no", "the question")
        window.browser.switch_to.active_element.send_keys("\ue007")
        window.until(lambda: window.focused() == "delete", "the way back")
        for rest in ("One", "The others"):
            window.script("document.querySelector('[data-test=note] [data-test=delete]').click()")
            window.press("delete-yes")
            window.until(lambda: rest in window.script(in_note), f"the focus on {rest}")
        window.press("edit")
        window.until(lambda: window.focused() == "title", "the form")
        window.type("title", "Mended")
        window.press("publish")
        window.says("pinned", "Mended")
        window.until(lambda: window.focused() == "edit", "the one that was mended")

    def test_an_announcement_is_edited_and_deleted_and_errors_are_in_the_persons_language(self):
        window = self.desk("council1", language="ko")
        window.type("title", "x" * 51)
        window.type("content", "내용")
        window.click("publish")
        window.says("error", "입력")
        window.type("title", "첫 공지")
        window.click("publish")
        window.says("note", "첫 공지")
        window.click("edit")
        window.type("title", "고친 공지")
        window.click("publish")
        window.says("note", "고친 공지")
        window.click("delete")
        window.click("delete-yes")
        window.until(lambda: not any("고친 공지" in one for one in window.texts("note")), "its end")

    def test_one_who_is_logged_out_is_told_and_loses_no_text(self):
        window = self.desk("council1")
        window.break_token("council")
        window.open("/council")
        window.says("person", "council1")
        window.type("title", "Kept")
        window.type("content", "This text is not lost.")
        window.press("publish")
        window.says("ended", "logged out")
        window.until(lambda: window.focused() == "demo", "the focus in the login")
        window.log_in("council1")
        window.press("publish")
        window.says("note", "Kept")

    def test_a_login_that_ends_while_the_page_is_open_is_told(self):
        window = self.desk("council1")
        window.script("""
            const key = "festa.council";
            const [head, claims, signature] = sessionStorage.getItem(key).split(".");
            const soon = {...JSON.parse(atob(claims.replace(/-/g, "+").replace(/_/g, "/"))), exp: Math.ceil(Date.now() / 1000) + 2};
            sessionStorage.setItem(key, [head, btoa(JSON.stringify(soon)), signature].join("."))""")
        window.open("/council")
        window.says("person", "council1")
        window.says("ended", "logged out")

    def test_a_toast_covers_nothing_that_can_be_pressed(self):
        for width, height in ((390, 844), (1280, 560)):
            with self.subTest(width=width):
                self.lab.clear_board(1)
                window = self.desk("council1", width=width, height=height)
                for title in ("One", "Two", "Three"):
                    self.publish(window, title)
                toasts, covered = window.covered_by_toasts()
                self.assertGreaterEqual(toasts, 1)
                self.assertEqual(covered, [])
                # Where there is no other place they let clicks through.
                self.assertEqual(window.script("return getComputedStyle(document.querySelector('.toast')).pointerEvents"), "none")
