"""Processes that a run starts: each in a session of its own, ended by its id, none outlives the run."""

import os
import pathlib
import random
import signal
import socket
import subprocess
import time


class StartError(Exception):
    """A sentence for people: what did not start, and where its log is."""


_given = set()


def free_port():
    """A port of 127.0.0.1 that nobody listens on and that this run has not been given before."""
    for port in random.sample(range(20000, 30000), 200):
        if port not in _given and not listens(port):
            _given.add(port)
            return port
    raise StartError("no free port between 20000 and 29999 on 127.0.0.1")


def wait_until(condition, what, seconds=60.0, alive=lambda: True):
    """Returns the condition's first true value; `alive` false ends the waiting early."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if not alive() or time.monotonic() > deadline:
            raise StartError(f"{what}, and will not" if not alive() else f"{what} after {seconds:.0f} s")
        time.sleep(0.02)


def listens(port):
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Process:
    """One child. `log` is a file that its output is added to."""

    def __init__(self, name, arguments, log, environment, user=None):
        self.name = name
        self.log = log
        other_user = {"user": user, "group": user, "extra_groups": []} if user else {}
        with open(log, "ab") as output:
            self._child = subprocess.Popen(
                [str(argument) for argument in arguments], stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True, env=environment, **other_user)

    @property
    def pid(self):
        return self._child.pid

    def runs(self):
        return self._child.poll() is None

    def send(self, number):
        if self.runs():
            self._child.send_signal(number)

    def wait(self, seconds=60.0):
        return self._child.wait(seconds)

    def stop(self, number=signal.SIGTERM, seconds=40.0):
        """Ends it by the signal, and by SIGKILL if it does not end in time; its exit status."""
        self.send(signal.SIGCONT)
        self.send(number)
        try:
            return self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            return self._child.wait()


class Processes:
    """All children of a run, in the order of their start."""

    MARK = "LOADTEST_RUN"

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.logs = self.folder / "log"
        self.logs.mkdir(parents=True, exist_ok=True)
        self._list = self.folder / "pids"
        self._all = []
        self._end_old()
        self._list.write_text("")

    def environment(self, settings=()):
        """A child's variables: none of ours that festabook would read, and the mark of this run."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FESTA_")}
        return {**kept, self.MARK: str(self.folder), **dict(settings)}

    def start(self, name, arguments, settings=(), user=None, log=None):
        process = Process(name, arguments, log or self.logs / f"{name}.log", self.environment(settings), user)
        self._all.append(process)
        with open(self._list, "a") as pids:
            pids.write(f"{process.pid}\n")
        return process

    def stop_all(self):
        for process in reversed(self._all):
            if process.runs():
                process.stop(seconds=15)
        self._all.clear()

    def _end_old(self):
        """What a run that was killed has left: pids that still carry this folder's mark."""
        mark = f"{self.MARK}={self.folder}".encode()
        for pid in self._list.read_text().split() if self._list.exists() else []:
            try:
                if mark not in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    continue
                os.kill(int(pid), signal.SIGKILL)
                wait_until(lambda: not os.path.exists(f"/proc/{pid}"), f"process {pid} does not end")
            except OSError:
                continue
