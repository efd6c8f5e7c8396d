#!/usr/bin/env python3
"""report.py results.json [folder]: report.md and report.html there, by default beside the results."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from loadtest.reporting import markdown, page  # noqa: E402


def main(arguments):
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    source = pathlib.Path(arguments[0])
    try:
        results = json.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        print(f"report.py: {source} cannot be read: {error}", file=sys.stderr)
        return 1
    folder = pathlib.Path(arguments[1]) if len(arguments) == 2 else source.parent
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.md").write_text(markdown.render(results), encoding="utf-8")
    (folder / "report.html").write_text(page.render(results), encoding="utf-8")
    print(f"{folder / 'report.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
