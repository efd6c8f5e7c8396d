"""The API's page: a call is tried as a demo account."""

import json

from harness import PageTest, WindowTest


class DocsPage(PageTest):
    def test_a_call_is_tried_with_its_example_as_an_account_that_may(self):
        self.open("/docs#createCoupon")
        self.named("send").click()
        self.until(lambda: self.all('[data-test="answer"]'), "an answer")
        self.assertEqual(self.named("status").text, "201")
        self.assertEqual(json.loads(self.named("answer").text)["stock"], 100)
        self.assertEqual(self.named("as").get_attribute("value"), "admin")

    def test_a_reservation_is_tried_as_a_user(self):
        self.open("/docs#reserveSeat")
        self.named("send").click()
        self.until(lambda: self.all('[data-test="answer"]'), "an answer")
        self.assertEqual(self.named("as").get_attribute("value"), "user1")
        self.assertIn(self.named("status").text, ("200", "409"), "409: another test has bought the seat")

    def test_everything_is_told_in_the_chosen_language(self):
        self.open("/docs#reserveSeat")
        self.until(lambda: self.all("#reserveSeat .answers .answer"), "an opened operation")
        texts = """return [...document.querySelectorAll('.about, .operation summary .muted.grow, #reserveSeat .fields > li > .small:last-of-type,'
            + ' #reserveSeat .answers > .answer > summary, section > p.muted')].map((one) => one.textContent).filter((text) => text.trim() !== "")"""
        korean = lambda: [any("가" <= c <= "힣" for c in text) for text in self.browser.execute_script(texts)]
        self.assertGreater(len(korean()), 60)
        self.assertFalse(any(korean()), "English first: the browser asks for it")
        self.named("language").click()
        self.until(lambda: all(korean()), "Korean")
        self.assertGreater(len(korean()), 60)
        self.assertTrue(self.one("#reserveSeat").get_attribute("open"), "what was open stays open")
        self.one('[name="filter"]').send_keys("쿠폰 신청합니다")
        shown = [one for one in self.all("details.operation") if one.is_displayed()]
        self.assertEqual([one.get_attribute("id") for one in shown], ["claimCoupon"])

    def test_the_filter_finds_an_operation(self):
        self.open("/docs")
        self.one("details")
        self.one('[name="filter"]').send_keys("coupon claim post")
        shown = [one for one in self.all("details.operation") if one.is_displayed()]
        self.assertEqual([one.get_attribute("id") for one in shown], ["claimCoupon"])


class MissingPage(WindowTest):
    expected = ("404",)  # a browser's console tells of it

    def test_an_unknown_address_is_a_page(self):
        window = self.window()
        for path, title in (("/nowhere", "There is nothing at this address."), ("/seats/999999", "There is no such performance.")):
            window.open(path)
            window.until(lambda: window.script("return document.querySelector('main h1')?.textContent") == title, title)
