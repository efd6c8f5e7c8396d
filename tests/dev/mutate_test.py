#!/usr/bin/env python3
"""./dev mutate tells killed, survived and stale mutations apart, resumes, and leaves the checkout alone; on a checkout whose build is
a copy and whose test is a shell script. usage: mutate_test.py <checkout>"""
import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "scripts"))
import mutate  # noqa: E402

DEV = """#!/bin/sh
! grep -q 'no code' code || exit 1
mkdir -p .build/release/tests && cp program .build/release/tests/program
"""
# Fails unless the code says what is promised; says how often it ran.
PROGRAM = """#!/bin/sh
echo x >>"$RAN"
grep -q 'kept' code && { echo '[==========] 1 test from 1 test suite ran. (0 ms total)'; exit 0; }
echo '[  FAILED  ] Suite.Sees (0 ms)'
exit 1
"""
GUARANTEES = "- **It is\n  kept.**\n  Tested by `Suite.Sees`.\n- **No promise.** A word.\n\nAnd a sentence that is long enough.\n"
ENTRY = """[[mutation]]
name = "{name}"
promise = "{promise}"
what = "a mistake"
file = "code"
find = "{find}"
replace = "{replace}"
tests = ["program Suite.Sees"]
"""


class MutateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in (("dev", DEV), ("program", PROGRAM), ("code", "kept well"), ("docs/guarantees.md", GUARANTEES),
                           ("tests/program/some_test.cc", "TEST(Suite, Sees) {}"), ("tests/mutations/uncovered.toml", ""), (".gitignore", ".build\n.run\n")):
            self.write(name, text)
        for name in ("dev", "program"):
            (self.root / name).chmod(0o755)
        subprocess.run("git init -q . && git add . && git -c user.name=t -c user.email=t@localhost commit -qm all", cwd=self.root, shell=True,
                       check=True)
        self.ran = self.root / ".run" / "ran"
        mutate.os.environ["RAN"] = str(self.ran)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def list(self, **entries):
        self.write("tests/mutations/list.toml", "".join(
            ENTRY.format(**{"name": name, "promise": "It is kept", "find": "kept", "replace": "broken", **entry}) for name, entry in entries.items()))
        self.record(mutate.Findings(self.root / ".run", "0123456789ab"))

    def record(self, findings):
        self.write("tests/mutations/results.md", findings.table(mutate.read(self.root), mutate.recorded(self.root)))

    def check(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = mutate.check(self.root)
        self.assertEqual(status, 1 if "FAILED" in said.getvalue() else 0)
        return [line for line in said.getvalue().split("\n") if line.startswith("FAILED")]

    def run_all(self):
        findings = mutate.Findings(self.root / ".run", "0123456789ab")
        mutations = mutate.read(self.root)
        with contextlib.redirect_stdout(io.StringIO()):
            mutate.run(self.root, [one for one in mutations if not findings.is_done(one)], findings)
        return {one.name: findings.of(one)["verdict"] for one in mutations}, findings.table(mutations, {})

    def test_a_mutation_that_the_named_test_notices_is_killed_and_others_are_not(self):
        self.list(noticed={}, unnoticed={"find": "well", "replace": "badly"}, stale={"find": "gone"}, nonsense={"replace": "no code"})
        verdicts, table = self.run_all()
        self.assertEqual(verdicts, {"noticed": "killed", "unnoticed": "survived", "stale": "does not apply", "nonsense": "does not build"})
        self.assertIn("| killed | Suite.Sees | `0123456789ab` | ", table)
        self.assertEqual((self.root / "code").read_text(), "kept well", "the checkout itself was changed")
        self.assertEqual((self.root / ".build/mutants/code").read_text(), "kept well", "the copy was left with a mistake")

    def test_what_is_known_is_not_run_again(self):
        self.list(noticed={})
        self.run_all()
        self.assertEqual(self.ran.read_text().count("x"), 2, "one control and one run with the mutation")
        self.run_all()
        self.assertEqual(self.ran.read_text().count("x"), 2)
        self.list(noticed={"replace": "forgotten"})
        self.run_all()
        self.assertEqual(self.ran.read_text().count("x"), 3, "a mutation that was changed is run again")

    def test_a_test_that_fails_without_the_mutation_kills_nothing(self):
        self.write("code", "never well")
        self.list(noticed={"find": "never", "replace": "not"})
        self.assertEqual(self.run_all()[0], {"noticed": "control failed"})

    def test_a_list_that_is_up_to_date_passes(self):
        self.list(noticed={}, of_a_sentence={"promise": "a sentence that is long"}, of_a_beginning={"promise": "it is"})
        self.assertEqual(self.check(), [])

    def test_a_stale_list_is_told(self):
        self.list(noticed={"find": "gone"})
        self.assertIn("does not apply", self.check()[0])
        self.list(noticed={"promise": "it is free"})
        self.assertEqual(len(self.check()), 2, "an unknown promise, and one without a mutation")
        self.list(noticed={}, of_a_word={"promise": "a sentence"}, of_the_middle={"promise": "is kept"})
        self.assertEqual(["does not promise" in line for line in self.check()], [True, True])
        self.list(noticed={})
        self.write("tests/program/some_test.cc", "TEST(Suite, IsGone) {}")
        self.assertIn("program has no test Suite.Sees", self.check()[0])

    def test_each_mutation_has_a_row_in_the_results(self):
        results = self.root / "tests/mutations/results.md"
        self.list(noticed={}, forgotten={})
        self.assertIn("**not run**", results.read_text())
        self.assertEqual(self.check(), [])
        results.write_text(results.read_text().replace("| forgotten |", "| renamed |"))
        without, unknown = self.check()
        self.assertIn("no row for forgotten: run `./dev mutate forgotten --record`", without)
        self.assertIn("a row for renamed, which is not defined: run `./dev mutate NAME --record`", unknown)
        results.unlink()
        self.assertEqual(len(self.check()), 2)

    def test_results_of_another_machine_stay_until_the_mutation_is_changed(self):
        results = self.root / "tests/mutations/results.md"
        self.list(noticed={"what": "a mistake | or two"}, unnoticed={"find": "well", "replace": "badly"})
        self.run_all()
        self.record(mutate.Findings(self.root / ".run", "0123456789ab"))
        known = results.read_text()
        self.assertIn("1 killed, 1 survived.", known)
        elsewhere = mutate.Findings(self.root / ".elsewhere", "ba9876543210")
        self.record(elsewhere)
        self.assertEqual(results.read_text(), known)
        noticed, unnoticed = mutate.read(self.root)
        elsewhere.add(unnoticed, "killed", "Suite.Sees", 1)
        self.record(elsewhere)
        self.assertIn("2 killed.", results.read_text())
        self.assertIn(mutate.recorded(self.root)["noticed"], known)
        self.list(noticed={"replace": "forgotten"}, unnoticed={"find": "well", "replace": "badly"})
        self.assertIn("**not run**", mutate.recorded(self.root)["noticed"])

    def test_exit_is_one_file_of_the_folder_of_chaos_and_that_program_the_others(self):
        self.write("tests/chaos/exit_test.cc", "TEST_P(Exit, Ends) {}")
        self.write("tests/chaos/crash_test.cc", "TEST(Crash, Ends) {}")
        self.write("tests/chaos/both.h", "TEST(Both, End) {}")
        self.assertEqual(mutate.tests_of(self.root, "exit"), {"Exit.Ends", "Both.End"})
        self.assertEqual(mutate.tests_of(self.root, "chaos"), {"Crash.Ends", "Both.End"})

    def test_a_promise_without_a_mutation_needs_a_reason(self):
        self.list()
        self.assertIn("no mutation breaks the promise", self.check()[0])
        self.write("tests/mutations/uncovered.toml", '[[promise]]\ntext = "It is kept"\nreason = "not yet"\n')
        self.assertEqual(self.check(), [])
        self.list(noticed={})
        self.assertIn("has a mutation", self.check()[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
