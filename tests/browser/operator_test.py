"""The operator's room."""

import threading

from harness import PageTest


class OperatorPage(PageTest):
    def test_a_stuck_lock_stands_out_and_goes(self):
        self.open("/operator")
        self.log_in_as_demo()
        self.named("instance")
        token = self.lab.post("/councils/login", {"username": "council1", "password": "council-demo-1"})["accessToken"]
        announcement = {"title": "slow", "content": "slow", "isPinned": False}
        slow = threading.Thread(target=self.lab.post, args=("/announcements", announcement, token),
                                kwargs={"X-Lab-Fault": "pause-before-commit=6000"})
        slow.start()
        self.named("stuck")
        self.assertEqual(len(self.all('[data-test="locks"] tr.stuck')), 1)
        slow.join()
        self.until(lambda: not self.all('[data-test="stuck"]'), "the stuck lock to go")
        # A restart in another test leaves the row of the instance before it for a while.
        self.assertGreaterEqual(len(self.all('[data-test="instances"] tbody tr')), 1)

    def test_it_is_closed_without_a_login(self):
        self.open("/operator")
        self.named("demo-login")
        self.assertEqual(self.all('[data-test="instance"]'), [])
