#!/usr/bin/env python3
"""Counts what a reader opens to follow one request: every concept (a header with its source) whose functions run between the first
byte and the answer, in the order in which they are first called, and the value types that those functions name.
usage: walk.py TRACED_BINARY [--json] : the binary is built by the target festabook_traced.

A function is known by its address, an address by the line that the debug information names. Each walk runs several times; a concept
counts when it is there every time, so that timers of the service do not."""
import argparse
import functools
import http.client
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
LAYERS = ("app", "controllers", "services", "lock")
TIMES = 5
TYPE = re.compile(r"^\s*(?:template\s*<.*>\s*)?(?:struct|class|enum class|enum)\s+(\w+)[^;]*$|^\s*using (\w+) =", re.MULTILINE)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def concept(path):
    return os.path.splitext(path)[0]


class Server:
    """One of scripts/server.sh."""

    def __init__(self, kind, folder, settings, *arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FESTA_")}
        self.child = subprocess.Popen([str(ROOT / "scripts/server.sh"), kind, str(folder), *arguments], text=True,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env={**environment, **settings})
        state, _, rest = self.child.stdout.readline().strip().partition(" ")
        if state != "ready":
            log = pathlib.Path(f"{folder}.log")
            sys.exit(f"{kind} did not start: {rest}\n{log.read_text()[-2000:] if log.exists() else ''}")
        self.words = dict(word.split("=", 1) for word in rest.split())
        self.settings = {name: value for name, value in self.words.items() if name.startswith("FESTA_")}

    def stop(self):
        self.child.send_signal(getattr(signal, "SIG" + self.words["stop"]))
        self.child.wait(30)


def run_sql(settings, statement):
    """On the service's database, past the service."""
    value = lambda name: settings["FESTA_DATABASE_" + name]
    subprocess.run(["psql", "-qAt", "-h", "127.0.0.1", "-p", value("PORT"), "-U", "festabook", "-c", statement, value("NAME")],
                   check=True, capture_output=True, env={**os.environ, "PGPASSWORD": value("PASSWORD")})


class Client:
    """One connection for all that it asks: a walk begins with a request, not with the connection."""

    def __init__(self, port):
        self.port = port
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        self.connection.connect()

    def ask(self, method, path, body=None, token=None, **headers):
        connection = self.connection
        headers = {"Content-Type": "application/json", **headers}
        if token:
            headers["Authorization"] = "Bearer " + token
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status >= 300:
            sys.exit(f"{method} {path}: {response.status} {answer.decode()}")
        return json.loads(answer) if answer else None

    def watch(self, path, token, change, begin):
        """Opens a stream, waits for its first event, changes something, and waits for the event that tells it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.connect()
        time.sleep(0.3)
        begin()
        connection.request("GET", path, headers={"Authorization": "Bearer " + token} if token else {})
        response = connection.getresponse()
        if response.status != 200:
            sys.exit(f"GET {path}: {response.status}")
        self.event(response)
        change()
        self.event(response)
        connection.close()

    @staticmethod
    def event(response):
        while not response.fp.readline().startswith(b"data:"):
            pass


class Trace:
    """What one loop's thread has run, from the files that tests/support/trace_calls.c writes."""

    def __init__(self, binary, folder):
        self.binary, self.folder, self.places, self.idle = binary, folder, {}, set()

    def rest(self, seconds=3):
        """Nobody asks anything: what runs now are timers."""
        start = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        time.sleep(seconds)
        self.idle = set(self.between(start, time.clock_gettime_ns(time.CLOCK_MONOTONIC)))

    def between(self, start, end):
        """Addresses in the order of their calls, of all threads."""
        calls = []
        for path in self.folder.iterdir():
            calls += [entry for entry in struct.iter_unpack("<QQ", path.read_bytes()) if start <= entry[0] < end]
        return [address for _, address in sorted(calls)]

    def locate(self, addresses):
        """Fills self.places: {address: (path, line, function)} of ours."""
        unknown = sorted({address for address in addresses if address not in self.places})
        if not unknown:
            return
        text = subprocess.run(["addr2line", "-f", "-C", "-e", self.binary], input="\n".join(hex(one) for one in unknown), text=True,
                              capture_output=True, check=True).stdout.split("\n")
        for at, address in enumerate(unknown):
            path, _, line = text[2 * at + 1].partition(":")
            path = os.path.relpath(path, ROOTS["build"]) if path.startswith("/") else path
            ours = path.split("/")[0] in LAYERS
            self.places[address] = (path, int(re.match(r"\d+", line).group()), text[2 * at]) if ours and line[:1].isdigit() else None


ROOTS = {"build": str(ROOT)}


def ordered(trace, start, end):
    """Concepts by the first call of one of their functions, and the places that ran; without what runs on its own."""
    calls = [address for address in trace.between(start, end) if address not in trace.idle]
    trace.locate(calls)
    places = [trace.places[address] for address in calls if trace.places[address]]
    return list(dict.fromkeys(concept(path) for path, _, _ in places)), set(places)


@functools.cache
def text_of(path):
    file = pathlib.Path(ROOTS["build"]) / path
    return file.read_text() if file.exists() else ""


def body(path, line):
    """The text of the function at that line: to the first line that closes a block no deeper than its own."""
    lines = text_of(path).split("\n")
    first = line - 1
    indent = len(lines[first]) - len(lines[first].lstrip()) if first < len(lines) else 0
    for last in range(first, len(lines)):
        if lines[last].startswith(" " * indent + "}") or (last == first and lines[last].rstrip().endswith("}")):
            break
    return "\n".join(lines[max(0, first - 3):last + 1])


def values(order, places):
    """Headers without a function that ran, whose types a function that ran names: {the concept before it: [concepts]}."""
    found = {}
    ran = set(order)
    for path, line, _ in sorted(places):
        text = body(path, line)
        stem = concept(path)
        for included in INCLUDE.findall(text_of(path) + text_of(stem + ".h")):
            other = concept(included)
            if other in ran or included.split("/")[0] not in LAYERS:
                continue
            names = {name for pair in TYPE.findall(text_of(included)) for name in pair if name}
            if any(re.search(rf"\b{name}\b", text) for name in names):
                found.setdefault(other, stem)
    return found


def measure(trace, act, prepare=lambda number: None):
    runs = []
    for number in range(-1, TIMES):
        prepare(number)
        time.sleep(0.3)
        started = [time.clock_gettime_ns(time.CLOCK_MONOTONIC)]
        act(number, lambda: started.append(time.clock_gettime_ns(time.CLOCK_MONOTONIC)))
        time.sleep(0.05)
        runs.append(ordered(trace, started[-1], time.clock_gettime_ns(time.CLOCK_MONOTONIC)))
    runs = runs[1:]  # the first fills caches
    common = set.intersection(*(set(order) for order, _ in runs))
    order = [one for one in runs[0][0] if one in common]
    places = {place for _, ran in runs for place in ran if concept(place[0]) in common}
    found = values(order, places)
    walk = []
    for one in order:
        walk.append(one)
        walk += [value for value, user in found.items() if user == one]
    return walk


def changes(walk, depth):
    rooms = ["/".join(os.path.dirname(one).split("/")[:depth]) for one in walk]
    return sum(one != other for one, other in zip(rooms, rooms[1:]))


def walks(binary, folder):
    traces = folder / "trace"
    traces.mkdir()
    database = Server("postgres", folder / "postgres", {}, "--database", "festabook")
    settings = {**database.settings, "CALL_TRACE_FOLDER": str(traces), "FESTA_HTTP_THREADS": "1",
                "FESTA_LOCK_STRATEGY": "memory"}
    service = Server("festabook", folder / "festabook", settings, "--", str(binary), str(ROOT / "app/config.json"))
    try:
        trace, client = Trace(binary, traces), Client(int(service.words["port"]))
        council = client.ask("POST", "/councils/login", {"username": "council1", "password": "council-demo-1"})["accessToken"]
        user = client.ask("POST", "/users/login", {"userId": "user1", "userPw": "user-demo-1"})["accessToken"]
        trace.rest()
        pinned = []

        def unpin(_):
            while pinned:
                client.ask("DELETE", f"/announcements/{pinned.pop()}", token=council)

        def pin(*_):
            announcement = {"title": "Now", "content": "Here.", "isPinned": True}
            pinned.append(client.ask("POST", "/announcements", announcement, council)["announcementId"])

        def sell(number, _):
            client.ask("POST", "/customer/performances/1/reservations", {"seatLocation": "A", "seatNumber": 20 + number}, user)

        def watch(number, begin):
            change = f"UPDATE seats SET is_reserved = true WHERE performance_id = 1 AND location = 'A' AND number = {40 + number}"
            client.watch("/performances/1/seats/events", user, lambda: run_sql(database.settings, change), begin)

        return {"pinned announcement": measure(trace, pin, unpin), "sale": measure(trace, sell), "watcher": measure(trace, watch)}
    finally:
        service.stop()
        database.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--sources", default=str(ROOT))
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    ROOTS["build"] = arguments.sources
    with tempfile.TemporaryDirectory() as folder:
        found = walks(arguments.binary.resolve(), pathlib.Path(folder))
    for name, walk in found.items():
        print(f"{name}: {len(walk)} concepts, {changes(walk, 1)} changes of layer, {changes(walk, 3)} of folder")
        for one in walk:
            print(f"  {one}")


if __name__ == "__main__":
    main()
