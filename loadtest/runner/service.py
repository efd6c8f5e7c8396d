"""Instances of the real binary, and the proxy in front of several."""

import base64
import http.client
import json
import re
import signal
import subprocess
import time

from .processes import Server, StartError


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


class Instance(Server):
    """One process of the service. It keeps its port and its log over restarts."""

    def __init__(self, processes, name, binary, settings):
        super().__init__(processes, "festabook", name, settings=settings, arguments=[binary])

    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def metrics(self, seconds=10.0):
        """Rendered after this call: the service serves one text for a second."""
        asked = time.time()
        while time.time() < asked + seconds:
            status, text = get(self.port, "/metrics")
            if status == 200 and rendered_at(text) >= asked:
                return text
            time.sleep(0.02)
        raise RuntimeError(f"{self.name} does not show its metrics")


class Proxy(Server):
    """HAProxy as it is shipped. An instance that stops is noticed within its drain delay, which is shorter here."""

    def __init__(self, processes, ports):
        instances = [word for port in ports for word in ("--instance", port)]
        super().__init__(processes, "haproxy", "haproxy", *instances,
                         "--change", "inter 500ms fall 2 rise 2", "inter 200ms fall 2 rise 1")


class Fleet:
    """Instances that share a database, and where to reach them: one by itself, several through the proxy."""

    has_served = False  # some load: it is warm

    def __init__(self, processes, binary, count, settings):
        self.instances = [Instance(processes, f"festabook{count}-{number}", binary, settings)
                          for number in range(1, count + 1)]
        for instance in self.instances:
            instance.ready()
        self.proxy = Proxy(processes, [instance.port for instance in self.instances]).ready() if count > 1 else None

    def url(self):
        return f"http://127.0.0.1:{self.proxy.port if self.proxy else self.instances[0].port}"

    def stop(self):
        if self.proxy:
            self.proxy.stop()
        for instance in self.instances:
            instance.send(signal.SIGTERM)
        for instance in self.instances:
            instance.stop()


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
