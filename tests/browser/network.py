"""What is between a browser and the lab: it can be cut, and it can lose an answer."""

import contextlib
import http.client
import http.server
import socket
import threading
import urllib.parse

# Of one hop.
OWN_HEADERS = {"connection", "keep-alive", "transfer-encoding", "host"}


class Network:
    """A proxy for HTTP on a port of its own. `asked` lists what went through it, as (method, path, Idempotency-Key)."""

    def __init__(self, address):
        self.lab = urllib.parse.urlsplit(address)
        self.asked = []
        self._statuses = []
        self.is_cut = False
        self._refused = ()
        self._silent = ()
        self._speaks = threading.Event()
        self._lost = set()
        self._late = {}  # the delivery of what is late
        self._ends = {}  # open connections and their paths
        self._carrier = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Carrier", (Carrier,), {"network": self}))
        self._carrier.daemon_threads = True
        self._carrier.handle_error = lambda *_: None  # a browser that has gone
        self.address = f"http://127.0.0.1:{self._carrier.server_port}"
        threading.Thread(target=self._carrier.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def cut(self):
        """Ends all connections, and lets no new one through until mend()."""
        self.is_cut = True
        self._end(lambda _: True)

    def mend(self):
        self.is_cut = False
        self._refused = ()
        self._silent = ()
        self._speaks.set()

    def lose_next(self, method, path):
        """The next such request is carried out, and its answer does not arrive."""
        self._lost.add((method, path))

    def delay_next(self, method, path):
        """The same, but it is carried out when the function that is returned is called."""
        self._late[method, path] = threading.Event()
        self.lose_next(method, path)
        return self._late[method, path].set

    def refuse(self, *words):
        """Ends what reads a path that contains one of these; none is reached until mend()."""
        self._refused = words
        self._end(lambda path: any(word in path for word in words))

    def silence(self, *words):
        """Requests whose path contains one of these get no answer, and their connections stay, until mend()."""
        self._speaks.clear()
        self._silent = words

    def keys(self, method):
        """The Idempotency-Keys of the requests so far."""
        return [key for asked, _, key in self.asked if asked == method]

    def statuses(self, path):
        """Of the answers so far."""
        return [status for answered, status in self._statuses if answered == path]

    def stop(self):
        self.cut()
        self._speaks.set()
        self._carrier.shutdown()
        self._carrier.server_close()

    def _end(self, is_meant):
        for end, path in list(self._ends.items()):
            if is_meant(path):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    # Used by Carrier.
    def await_speech(self, path):
        if any(word in path for word in self._silent):
            self._speaks.wait(60)

    def reaches(self, path):
        return not self.is_cut and not any(word in path for word in self._refused)

    def loses(self, method, path):
        """Whether the answer is lost; when the request is to be carried out."""
        is_lost = (method, path) in self._lost
        self._lost.discard((method, path))
        return is_lost, self._late.pop((method, path), None)

    def answered(self, path, status):
        self._statuses.append((path, status))

    def begun(self, end, path):
        self._ends[end] = path

    def over(self, end):
        del self._ends[end]


class Carrier(http.server.BaseHTTPRequestHandler):
    """One connection of the browser, for one request."""

    protocol_version = "HTTP/1.1"  # a browser asks with an ETag only then
    network = None

    def carry(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.network.asked.append((self.command, self.path, self.headers.get("Idempotency-Key")))
        self.close_connection = True
        self.network.await_speech(self.path)
        if not self.network.reaches(self.path):
            return
        is_lost, late = self.network.loses(self.command, self.path)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in OWN_HEADERS}
        far = http.client.HTTPConnection(self.network.lab.hostname, self.network.lab.port)
        with contextlib.closing(far), contextlib.suppress(OSError):
            if is_lost:
                self.connection.shutdown(socket.SHUT_RDWR)  # the browser learns nothing
            if late:
                late.wait(60)
            far.request(self.command, self.path, body or None, headers)
            if is_lost:
                far.getresponse().read()
            else:
                self.bring_back(far)

    def bring_back(self, far):
        self.network.begun(self.connection, self.path)
        try:
            answer = far.getresponse()
            self.network.answered(self.path, answer.status)
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in OWN_HEADERS:
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            while piece := answer.read1(65536):
                self.wfile.write(piece)
        finally:
            self.network.over(self.connection)

    do_GET = do_POST = do_PATCH = do_DELETE = carry

    def send_response(self, code, message=None):  # without a Server and a Date of our own
        self.send_response_only(code, message)

    def log_message(self, *_):
        pass
