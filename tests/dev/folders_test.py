#!/usr/bin/env python3
"""scripts/folders.py finds what does not fit the table of folders; in a repository of its own. usage: folders_test.py <checkout>"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "scripts"))
import folders  # noqa: E402

GOOD = {
    "CONTRIBUTING.md": "| `lock/` | locks |\n| `services/`, `services/queue/` | rules |\n| `tests/`, `tests/lock/` | tests |\n",
    "lock/key.h": "",
    "services/error.h": "",
    "services/retry_pauses.h": "",
    "services/queue/queue.cc": '#include "services/retry_pauses.h"\n#include <map>\n',
    "tests/lock/engine/key_test.cc": '#include "lock/key.h"\n',
}


class FoldersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        subprocess.run(["git", "init", "-q", folder.name], check=True)
        self.write(GOOD)

    def write(self, texts):
        for name, text in texts.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)

    def assertFault(self, *words):
        found = folders.faults(self.root)
        self.assertEqual(1, len(found), found)
        for word in words:
            self.assertIn(word, found[0])

    def test_nothing_is_found_where_the_table_is_kept(self):
        self.assertEqual([], folders.faults(self.root))

    def test_a_folder_without_a_row_is_found(self):
        self.write({"lock/redis/server.h": ""})
        self.assertFault("lock/redis/ has no row")

    def test_a_program_of_tests_without_a_row_is_found(self):
        self.write({"tests/rush/seats_test.cc": ""})
        self.assertFault("tests/rush/ has no row")

    def test_a_row_without_a_folder_is_found(self):
        self.write({"CONTRIBUTING.md": GOOD["CONTRIBUTING.md"] + "| `lock/paper/` | nothing |\n"})
        self.assertFault("lock/paper/", "does not exist")

    def test_a_crowded_folder_is_found(self):
        self.write({f"lock/key{number}.h": "" for number in range(folders.CROWDED)})
        self.assertFault(f"lock/ has {folders.CROWDED + 1} files")

    def test_the_lock_library_includes_itself_only(self):
        self.write({"lock/key.h": '#include "services/error.h"\n'})
        self.assertFault("lock/key.h includes services/error.h")

    def test_services_do_not_know_locks(self):
        self.write({"services/error.h": '#include "lock/key.h"\n'})
        self.assertFault("services/error.h includes lock/key.h")

    def test_the_queue_knows_neither_locks_nor_the_other_services(self):
        for included in ("lock/key.h", "services/error.h"):
            self.write({"services/queue/queue.cc": f'#include "{included}"\n'})
            self.assertFault(f"services/queue/queue.cc includes {included}")

    def test_a_layer_does_not_include_the_one_above_it(self):
        table = GOOD["CONTRIBUTING.md"] + "| `app/` | wiring |\n| `controllers/http/` | requests |\n"
        self.write({"CONTRIBUTING.md": table, "app/log.h": "", "controllers/http/route.h": '#include "app/log.h"\n'})
        self.assertFault("controllers/http/route.h includes app/log.h")

    def test_the_lab_has_one_door(self):
        table = GOOD["CONTRIBUTING.md"] + "| `app/`, `app/lab/` | wiring |\n"
        self.write({"CONTRIBUTING.md": table, "app/lab.h": "", "app/lab/race.h": '#include "app/lab.h"\n',
                    "tests/lock/race_test.cc": '#include "app/lab/race.h"\n', "app/main.cc": '#include "app/lab/race.h"\n'})
        self.assertFault("app/main.cc includes app/lab/race.h", "app/lab.h is the only door")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
