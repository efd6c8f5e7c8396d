"""The API's page: a call is tried as a demo account."""

import json

from harness import PageTest


class DocsPage(PageTest):
    def test_a_call_is_tried_with_its_example_as_an_account_that_may(self):
        self.open("/docs#createCoupon")
        self.named("send").click()
        self.until(lambda: self.all('[data-test="answer"]'), "an answer")
        self.assertEqual(self.named("status").text, "201")
        self.assertEqual(json.loads(self.named("answer").text)["stock"], 100)
        self.assertEqual(self.named("as").get_attribute("value"), "admin")

    def test_the_filter_finds_an_operation(self):
        self.open("/docs")
        self.one("details")
        self.one('[name="filter"]').send_keys("coupon claim post")
        shown = [one for one in self.all("details.operation") if one.is_displayed()]
        self.assertEqual([one.get_attribute("id") for one in shown], ["claimCoupon"])
