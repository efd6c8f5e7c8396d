#!/usr/bin/env python3
"""./dev handover resumes, tells what was not run, and does not take the results of another commit for its own; with steps that do
nothing, in a repository of its own. usage: handover_test.py <checkout>"""
import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "scripts"))
import handover  # noqa: E402


class HandoverTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "repository"
        self.state = pathlib.Path(folder.name) / "state"
        self.git("init", "-q", str(self.root), at=folder.name)
        (self.root / "docs").mkdir()
        (self.root / "tests" / "mutations").mkdir(parents=True)
        self.commit("code", "1")
        self.steps = {name: self.step(name) for name in ("first", "second", "third")}

    def git(self, *arguments, at=None):
        command = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost", *arguments]
        return subprocess.run(command, cwd=at or self.root, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, name, text):
        (self.root / name).write_text(text)
        self.git("add", name)
        self.git("commit", "-qm", "change")
        return self.git("rev-parse", "HEAD")

    def step(self, name, command="true"):
        return ["sh", "-c", f"echo x >>'{self.state}/{name}.ran'; {command}"]

    def runs(self, name):
        path = self.state / f"{name}.ran"
        return path.read_text().count("x") if path.exists() else 0

    def run_all(self, names=(), minutes=None):
        deadline = None if minutes is None else time.monotonic() + minutes * 60
        one = handover.Handover(self.root, self.state, self.steps)
        with contextlib.redirect_stdout(io.StringIO()):
            one.run(names, deadline)
        return one

    def against(self, one):
        return [line for line in one.verdict() if line.split(":")[0] in self.steps]

    def test_every_step_is_run_once(self):
        self.assertEqual(self.against(self.run_all()), [])
        self.run_all()
        self.assertEqual([self.runs(name) for name in self.steps], [1, 1, 1])

    def test_a_failure_does_not_stop_the_others_and_is_not_repeated_by_itself(self):
        self.steps["second"] = self.step("second", "exit 3")
        self.assertEqual(self.against(self.run_all()), ["second: failed (3)"])
        self.run_all()
        self.assertEqual([self.runs(name) for name in self.steps], [1, 1, 1])
        self.steps["second"] = self.step("second")
        self.assertEqual(self.against(self.run_all(["second"])), [])
        self.assertEqual([self.runs(name) for name in self.steps], [1, 2, 1])

    def test_an_interrupted_step_begins_anew_and_what_did_not_fit_is_named(self):
        self.steps["second"] = self.step("second", "sleep 600")
        cut = self.run_all(minutes=1 / 60)
        self.assertEqual(self.against(cut), ["second: interrupted", "third: not run"])
        self.assertIn("| third | ", cut.table())
        self.steps["second"] = self.step("second")
        self.assertEqual(self.against(self.run_all()), [])
        self.assertEqual([self.runs(name) for name in self.steps], [1, 2, 1])

    def test_another_commit_begins_anew_but_one_that_keeps_results_does_not(self):
        self.run_all()
        self.commit("docs/benchmarks.md", "figures")
        self.run_all()
        self.assertEqual([self.runs(name) for name in self.steps], [1, 1, 1])
        self.commit("code", "2")
        self.run_all()
        self.assertEqual([self.runs(name) for name in self.steps], [2, 2, 2])

    def test_what_is_not_in_git_is_not_handed_over(self):
        (self.root / "code").write_text("3")
        with self.assertRaises(SystemExit):
            self.run_all()
        self.assertEqual(self.runs("first"), 0)

    def test_results_name_a_commit_of_the_history(self):
        git = handover.Git(self.root)
        made_from = self.git("rev-parse", "HEAD")
        self.commit("tests/mutations/results.md", f"| name | killed | `{made_from[:12]}` |")
        self.commit("docs/benchmarks.md", f"# Benchmarks\n\nThe load test ran on commit {made_from[:12]}, the others on `{made_from[:7]}`.")
        self.assertEqual(list(handover.wrong_results(self.root, git)), [])
        self.git("checkout", "-q", "-b", "other", made_from)
        elsewhere = self.commit("code", "4")
        self.git("checkout", "-q", "-")
        for text, why in ((f"festabook {elsewhere[:7]}, today", "not in the history"), ("festabook 0123456, today", "not in the history"),
                          (f"Commit {made_from[:12]}+changes, today", "with changes"), ("nothing", "names no commit")):
            (self.root / "docs/benchmarks.md").write_text(text)
            found = list(handover.wrong_results(self.root, git))
            self.assertEqual(len(found), 1, found)
            self.assertIn(why, found[0])

    def test_mutations_that_were_not_noticed_are_named(self):
        rows = [f"| {name} | promise | mistake | `file` | {verdict} | test | `0123456` | d |"
                for name, verdict in (("seen", "killed"), ("blind", "**survived**"), ("new", "**not run**"))]
        (self.root / "tests/mutations/results.md").write_text("\n".join(["| mutation |", "|---|", *rows, ""]))
        self.assertEqual(list(handover.blind_tests(self.root)), ["mutation blind: survived", "mutation new: not run"])

    def test_a_shallow_clone_says_that_it_cannot_tell(self):
        self.commit("code", "5")
        shallow = self.root.parent / "shallow"
        self.git("clone", "-q", "--depth", "1", self.root.as_uri(), str(shallow))
        found = list(handover.wrong_results(shallow, handover.Git(shallow)))
        self.assertEqual(len(found), 1)
        self.assertIn("shallow", found[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
