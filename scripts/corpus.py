#!/usr/bin/env python3
"""The inputs that the fuzzer starts from: tests/fuzz/corpus.txt, one `NAME BYTES` a line, sorted by name.

The bytes are Latin-1 with Python's escapes; spaces are \\x20 at the end of a line. tests/fuzz/corpus.cc reads the same format.
usage: corpus.py unpack FOLDER    writes each input into a file of its name
       corpus.py add FILE…        adds files, under the names they have
"""
import pathlib
import sys

CORPUS = pathlib.Path(__file__).resolve().parents[1] / "tests" / "fuzz" / "corpus.txt"


def escaped(data):
    text = data.decode("latin-1").encode("unicode_escape").decode("ascii")
    bare = text.rstrip(" ")
    return bare + r"\x20" * (len(text) - len(bare))


def read():
    """{name: bytes}"""
    lines = (line.partition(" ") for line in CORPUS.read_text("ascii").splitlines())
    return {name: text.encode("ascii").decode("unicode_escape").encode("latin-1") for name, _, text in lines}


def main(command, *paths):
    inputs = read() if CORPUS.exists() else {}
    if command == "unpack":
        folder = pathlib.Path(paths[0])
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in inputs.items():
            (folder / name).write_bytes(data)
    elif command == "add":
        inputs |= {path.name: path.read_bytes() for path in map(pathlib.Path, paths)}
        CORPUS.write_text("".join(f"{name} {escaped(data)}\n" for name, data in sorted(inputs.items())), "ascii")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:] or [""])
