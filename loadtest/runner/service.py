"""Instances of the real binary, and the proxy in front of several."""

import base64
import http.client
import json
import re
import resource
import signal
import subprocess
import time

from .processes import StartError, free_port, wait_until


def get(port, path, seconds=5.0):
    """(status, body) of a GET on 127.0.0.1; (0, "") when there is no answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except (OSError, http.client.HTTPException):
        return 0, ""
    finally:
        connection.close()


def rendered_at(metrics):
    """When this text was rendered, in seconds since 1970; 0 when it does not say."""
    found = re.search(r"^festa_metrics_rendered_timestamp_seconds (\S+)$", metrics, re.MULTILINE)
    return float(found.group(1)) if found else 0.0


class Instance:
    """One process of the service. It keeps its port and its log over restarts."""

    def __init__(self, processes, name, binary, settings):
        self.name = name
        self.port = free_port()
        self.log = processes.logs / f"{name}.log"
        self.log.write_bytes(b"")
        self._processes = processes
        self._settings = dict(settings)
        self.start(binary)

    def start(self, binary):
        self.process = self._processes.start(
            self.name, [binary], {**self._settings, "FESTA_HTTP_PORT": str(self.port)}, log=self.log)

    def is_ready(self):
        return get(self.port, "/readyz")[0] == 200

    def ready(self, seconds=60.0):
        wait_until(self.is_ready, f"{self.name} is not ready (log: {self.log})", seconds, self.process.runs)

    def kill(self):
        self.process.stop(signal.SIGKILL)

    def metrics(self, seconds=10.0):
        """Rendered after this call: the service serves one text for a second."""
        asked = time.time()
        while time.time() < asked + seconds:
            status, text = get(self.port, "/metrics")
            if status == 200 and rendered_at(text) >= asked:
                return text
            time.sleep(0.02)
        raise RuntimeError(f"{self.name} does not show its metrics")


def proxy_configuration(listen, ports, socket, connections=8000):
    """HAProxy in front of instances on these ports.

    An instance that drains says so by /readyz and gets no new requests; requests are repeated on another instance only
    when no connection could be made, never when one may have been read."""
    servers = "\n".join(f"  server instance{number} 127.0.0.1:{port}" for number, port in enumerate(ports, 1))
    return f"""global
  maxconn {connections}
  stats socket {socket} mode 600 level admin
defaults
  mode http
  timeout connect 1s
  timeout client 90s
  timeout server 90s
  # /readyz asks a Redis that may stand still.
  timeout check 2s
  timeout http-keep-alive 90s
  retries 3
  option redispatch 1
frontend public
  bind 127.0.0.1:{listen}
  # The service reads the first line only, and the option below adds one.
  http-request del-header X-Forwarded-For
  option forwardfor
  default_backend festabook
backend festabook
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
  default-server check inter 200ms fall 2 rise 1
{servers}
"""


class Proxy:
    def __init__(self, processes, ports):
        self.port = free_port()
        file = processes.folder / "haproxy.cfg"
        # A connection takes two files, one to each side.
        connections = min(8000, (resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 200) // 2)
        file.write_text(proxy_configuration(self.port, ports, processes.folder / "haproxy.sock", connections))
        self.process = processes.start("haproxy", ["haproxy", "-db", "-f", file])
        wait_until(lambda: get(self.port, "/healthz")[0] == 200,
                   f"HAProxy does not answer (log: {self.process.log})", alive=self.process.runs)


class Fleet:
    """Instances that share a database, and where to reach them: one by itself, several through the proxy."""

    has_served = False  # some load: it is warm

    def __init__(self, processes, binary, count, settings):
        self.instances = [Instance(processes, f"festabook{count}-{number}", binary, settings)
                          for number in range(1, count + 1)]
        for instance in self.instances:
            instance.ready()
        self.proxy = Proxy(processes, [instance.port for instance in self.instances]) if count > 1 else None

    def url(self):
        return f"http://127.0.0.1:{self.proxy.port if self.proxy else self.instances[0].port}"

    def stop(self):
        if self.proxy:
            self.proxy.process.stop()
        for instance in self.instances:
            instance.process.send(signal.SIGTERM)
        for instance in self.instances:
            instance.process.stop()


class Tools:
    """festabook seed and festabook token."""

    def __init__(self, binary, environment):
        self._binary = binary
        self._environment = environment

    def run(self, *arguments):
        done = subprocess.run([self._binary, *arguments], capture_output=True, text=True, env=self._environment)
        if done.returncode:
            raise StartError(f"festabook {arguments[0]}: {done.stderr.strip()}")
        return done.stdout

    def tokens(self, count):
        """What the scripts read: {"admin", "council1", "users": [{"id", "name", "token"}]}, users made as needed."""
        self.run("seed", "--users", str(count))
        names = ["admin", "council1", *(f"user{number}" for number in range(1, count + 1))]
        tokens = self.run("token", *names).split()
        users = [{"id": id_in(token), "name": name, "token": token} for name, token in zip(names[2:], tokens[2:])]
        return {"admin": tokens[0], "council1": tokens[1], "users": users}


def id_in(token):
    """The number of the user that a token was made for."""
    body = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))["uid"]
