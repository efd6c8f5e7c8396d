"""Processes that a run starts by scripts/server.sh: each in a session of its own, ended by its id; none outlives the run."""

import fcntl
import os
import pathlib
import resource
import signal
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVER = ROOT / "scripts" / "server.sh"


class StartError(Exception):
    """A sentence for people: what did not start, and where its log is."""


def read_line(kind, line):
    """The words of server.sh's line as a dictionary."""
    state, _, rest = line.strip().partition(" ")
    if state != "ready":
        raise StartError(rest or f"{kind} did not start")
    return dict(word.split("=", 1) for word in rest.split())


class Server:
    """One server. It keeps its folder, its port and its log over restarts."""

    def __init__(self, processes, kind, name, *options, settings=(), arguments=()):
        """Starts it; port and words are known when it is ready()."""
        self.kind, self.name = kind, name
        self.log = processes.logs / f"{name}.log"
        self.port = None
        self.words = {}  # of its line
        self._folder = processes.folder / name
        self._environment = processes.environment(settings)
        self._options = options
        self._arguments = arguments
        self.log.write_bytes(b"")
        self.launch("--fresh")
        processes.add(self)

    def launch(self, *options, arguments=()):
        """Starts it and does not wait. `arguments` are for the server itself, e.g. another binary."""
        self._arguments = arguments or self._arguments
        kept = ["--port", self.port] if self.port else []
        command = [SERVER, self.kind, self._folder, "--log", self.log, *kept, *options, *self._options, "--", *self._arguments]
        self._child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       text=True, start_new_session=True, env=self._environment)

    def ready(self):
        """Waits until the server answers; itself."""
        with self._child.stdout as output:
            self.words = read_line(self.kind, output.readline())
        self.port = int(self.words["port"])
        return self

    def start(self, **how):
        self.launch(**how)
        self.ready()

    def settings(self):
        """By which festabook finds it."""
        return {name: value for name, value in self.words.items() if name.startswith("FESTA_")}

    @property
    def pid(self):
        return self._child.pid

    def runs(self):
        return self._child.poll() is None

    def send(self, number):
        if self.runs():
            self._child.send_signal(number)

    def stop(self, number=None, seconds=40.0):
        """Ends it by the signal, which is that for an end in order unless told, and by SIGKILL if it does not end in time; its
        exit status."""
        self.send(signal.SIGCONT)
        self.send(number or signal.Signals["SIG" + self.words.get("stop", "KILL")])
        try:
            return self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            return self._child.wait()


class Processes:
    """All servers of a run, in the order of their start, in a folder that no other run uses meanwhile."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).absolute()
        self.logs = self.folder / "log"
        self.logs.mkdir(parents=True, exist_ok=True)
        self._all = []
        self._lock = open(self.folder / "lock", "w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise StartError(f"another run uses {self.folder}; set FESTA_RUN_DIR to another folder") from None
        # Servers inherit it.
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    def environment(self, settings=()):
        """A child's variables: none of ours that festabook would read."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FESTA_")}
        return {**kept, **{name: str(value) for name, value in dict(settings).items()}}

    def add(self, server):
        self._all.append(server)

    def stop_all(self):
        for server in reversed(self._all):
            if server.runs():
                server.stop(seconds=15)
        self._all.clear()
        self._lock.close()
