"""A council's desk: three pins, and errors in the person's language."""

from harness import WindowTest


class CouncilPage(WindowTest):
    expected = ("409 (Conflict)", "422 (Unprocessable")  # the browser itself writes such lines

    def test_the_fourth_pin_is_explained_and_finds_a_place(self):
        window = self.window()
        window.open("/council")
        window.log_in("council2")
        for number in range(1, 5):
            window.type("title", f"Notice {number}")
            window.type("content", "Doors open at six.")
            window.script("document.querySelector('[name=pin]').checked = true")
            window.click("publish")
            if number < 4:
                window.says("pin-count", f"{number} of 3")
                window.until(lambda: window.script("return document.querySelector('[name=title]').value") == "", "an empty form")
        window.says("full", "Three pins")
        self.assertEqual(len(window.texts("pinned")), 3)
        window.click("swap")
        window.until(lambda: any("Notice 4" in one for one in window.texts("pinned")), "the fourth among the pinned")
        window.says("pin-count", "3 of 3")
        self.assertEqual(len(self.lab.get("/announcements", festival="2")["pinned"]), 3)

    def test_an_announcement_is_edited_and_deleted_and_errors_are_in_the_persons_language(self):
        window = self.window(language="ko")
        window.open("/council")
        window.log_in("council1")
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
