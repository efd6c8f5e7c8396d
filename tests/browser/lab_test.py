"""The lab's page: a control oversells and a lock does not, and the page shows both."""

from harness import PageTest


class LabPage(PageTest):
    def race(self, **choices):
        """Starts one and waits for its end."""
        for name, value in choices.items():
            field = self.one(f'[name="{name}"]')
            if field.get_attribute("type") == "checkbox":
                if field.is_selected() != value:
                    field.click()
            else:
                self.browser.execute_script("arguments[0].value = arguments[1]", field, value)
        before = self.browser.execute_script("return location.hash")
        self.named("start").click()
        self.until(lambda: self.browser.execute_script("return location.hash") != before, "a race that has begun")
        self.until(self.named("start").is_enabled, "the end of the race")

    def verdicts(self):
        return [tag.get_attribute("class").split()[-1] for tag in self.all('[data-test="verdict"]')]

    def enter(self):
        self.open("/lab")
        self.log_in_as_demo()
        self.until(lambda: len(self.all('[name="strategy"] option')) > 5, "the strategies")

    def test_without_a_lock_it_is_seen_to_oversell_and_with_a_lock_not(self):
        self.enter()
        # Whether two requests overlap is chance.
        for _ in range(5):
            self.race(people="100", strategy="none", against="memory")
            if self.verdicts()[0] == "bad":
                break
        self.assertEqual(self.verdicts(), ["bad", "good"])
        without, with_lock = self.all('[data-test="side"]')
        self.assertIn("broken", without.get_attribute("class"))
        self.assertNotIn("broken", with_lock.get_attribute("class"))
        counters = [int(one.find_element("tag name", "strong").text) for one in self.all('[data-test="counter"]')]
        self.assertGreater(counters[0], 3)
        self.assertEqual(counters[1], 3)
        self.assertEqual(len(self.all('[data-test="overlap"]')), 1, "the two that did it are not shown")

    def test_a_control_that_was_lucky_is_not_said_to_hold(self):
        self.enter()
        self.race(people="2", strategy="none", against="memory", fault=False)  # two pins are never too many
        self.assertEqual(self.verdicts(), ["warn", "good"])
        self.assertEqual([tag.text for tag in self.all('[data-test="verdict"]')], ["lucky", "held"])
        self.assertEqual(len(self.all('[data-test="luck"]')), 1, "why it was luck is not said")
        self.named("language").click()
        self.until(lambda: self.all('[data-test="verdict"]')[0].text == "운이 좋았습니다", "the verdict in the other language")

    def test_a_large_crowd_is_drawn_in_rows_with_a_close_up_of_some(self):
        self.enter()
        self.race(people="500", strategy="memory", against="", fault=False)
        rows, close_up = self.one('[data-test="lanes"]'), self.one('[data-test="close-up"]')
        self.assertLess(rows.size["height"], 520)
        self.assertTrue(close_up.is_displayed())
        before = close_up.get_attribute("aria-label")
        rows.send_keys("\ue00f" * 10)  # page down
        self.until(lambda: close_up.get_attribute("aria-label") != before, "a close-up of others")
        self.until(lambda: self.one(".lane-detail").text.startswith("Person 200 · "), "what is said of the lane")
        self.race(people="60", strategy="memory", against="")
        self.assertFalse(self.one('[data-test="close-up"]').is_displayed(), "each of few lanes is drawn anyway")

    def test_a_lock_released_before_commit_is_seen_to_fail(self):
        self.enter()
        for _ in range(5):
            self.race(people="100", strategy="memory", against="", fault=True)
            if self.verdicts() == ["bad"]:
                break
        self.assertEqual(self.verdicts(), ["bad"])
        self.assertGreater(len(self.all('[data-test="overlap"] .released')), 0, "where the lock was released is not shown")

    def test_lanes_are_drawn_and_can_be_read_by_keyboard(self):
        self.enter()
        self.race(people="60", strategy="memory", against="", fault=False)
        drawn = self.browser.execute_script(
            "const c = document.querySelector('canvas'); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data"
            ".some((byte, i) => i % 4 === 3 && byte > 0)")
        self.assertTrue(drawn)
        self.one('[data-test="lanes"]').send_keys("\ue015\ue015")  # arrow down
        self.until(lambda: self.one(".lane-detail").text.startswith("Person 2 · "), "what is said of the second lane")

    def test_a_link_shows_the_race_without_a_login(self):
        self.enter()
        self.race(people="30", strategy="memory", against="")
        link = self.browser.execute_script("return location.href")
        self.browser.execute_script("sessionStorage.clear()")
        self.browser.get("about:blank")
        self.browser.get(link)
        self.until(lambda: self.verdicts() == ["good"], "the race behind the link")
        self.named("demo-login")

    def test_it_speaks_two_languages(self):
        self.open("/lab")
        title = self.one("h1").text
        self.named("language").click()
        self.until(lambda: self.one("h1").text != title, "the other language")
        self.assertIn("경주", self.one("h1").text)
