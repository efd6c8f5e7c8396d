"""Sales of a hall that people watch, over sales of a hall without watchers."""
import contextlib
import selectors
import socket
import threading
import time

from loadtest.bench import sales
from loadtest.bench.load import median

WATCHERS = 1000
SEATS = 50_000   # of one hall: the largest that a place may have
SECONDS = 1      # of one side: such a hall is not sold out by then
PATIENCE = 60    # seconds
PART = 1 << 18   # bytes of one read


class Audience:
    """So many readers of live seats, on one thread. They read and forget, to leave the processor to the service."""

    def __init__(self, server, performance, count):
        self._selector = selectors.EpollSelector()
        self._received = {}
        self._buffer = bytearray(PART)
        self._ends = threading.Event()
        request = f"GET /performances/{performance}/seats/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
            connection.sendall(request)
            connection.setblocking(False)
            self._selector.register(connection, selectors.EVENT_READ)
            self._received[connection] = 0
        self._wait_for_snapshots()
        self._before = dict(self._received)
        self.cpu_seconds = 0.0
        self._failure = None
        self._reader = threading.Thread(target=self._read_on)
        self._reader.start()

    def _read(self, timeout):
        for key, _ in self._selector.select(timeout):
            size = key.fileobj.recv_into(self._buffer)
            if size == 0 or (self._received[key.fileobj] == 0 and not self._buffer.startswith(b"HTTP/1.1 200")):
                raise RuntimeError(f"a watcher was refused or left: {bytes(self._buffer[:100])}")
            self._received[key.fileobj] += size

    def _wait_for_snapshots(self):
        # Headers are less than a tenth of the bitmap of such a hall.
        deadline = time.monotonic() + PATIENCE
        while min(self._received.values()) < SEATS // 8:
            if time.monotonic() > deadline:
                raise RuntimeError("not all watchers have got a snapshot")
            self._read(1)

    def _read_on(self):
        began = time.thread_time()
        try:
            while not self._ends.is_set():
                self._read(0.1)
        except (OSError, RuntimeError) as error:
            self._failure = error
        self.cpu_seconds = time.thread_time() - began

    def leave(self):
        self._ends.set()
        self._reader.join()
        for connection in self._received:
            connection.close()
        self._selector.close()
        if self._failure:
            raise self._failure
        if any(self._received[one] == self._before[one] for one in self._received):
            raise RuntimeError("a watcher was told nothing of the sales")


@contextlib.contextmanager
def audience(server, performance, spent):
    """While it lasts, the hall is watched. Adds the watchers' own processor time, in seconds, to `spent`."""
    watchers = Audience(server, performance, WATCHERS)
    try:
        yield
    finally:
        watchers.leave()
    spent.append(watchers.cpu_seconds)


def run(lab, rounds):
    stall = sales.Stall(lab, SECONDS)
    server = stall.server("memory")
    spent = []
    alone, watched = "without watchers", f"{WATCHERS} watchers"
    found = stall.compare(rounds, {
        alone: lambda: stall.side(server, seats=SEATS),
        watched: lambda: stall.side(server, seats=SEATS, during=lambda performance: audience(server, performance, spent))})
    stall.tell(f"sales/s of a hall of {SEATS:,} seats with {WATCHERS:,} watchers, over without", found, watched, alone, 0.9)
    lab.figures.figure("service CPU per sale without watchers", median([one["cpu_us"] for one in found[alone]]), "µs",
                       detail=f"the watchers' own reading took {median(spent) / stall.seconds * 100:.0f} % of a core")
