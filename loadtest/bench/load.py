"""Requests per second by wrk, and what is made of them."""
import pathlib
import statistics
import subprocess

IN_FLIGHT = 64  # requests that wrk keeps open where no database connection limits them
HERE = pathlib.Path(__file__).resolve().parent


def median(values):
    return statistics.median(values) if values else None


def wrk(server, seconds, in_flight, *script, path="/healthz"):
    """Requests per second, and how many were not answered with 2xx or 3xx. Without a script: GET requests of the path."""
    command = ["wrk", "-t1", f"-c{in_flight}", f"-d{seconds}s", "--latency"]
    if script:
        command += ["-s", str(HERE / script[0])]
    command += [server.url() if script else server.url() + path]
    if script:
        command += ["--", *map(str, script[1:])]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {"others": 0}
    for line in text.splitlines():
        words = line.split()
        if line.startswith("Requests/sec:"):
            found["rate"] = float(words[1])
        elif "requests in" in line:
            found["count"] = int(words[0])
        elif "Non-2xx" in line:
            found["others"] = int(words[-1])
        elif words[:1] in (["50%"], ["99%"]):
            found["p" + words[0][:-1]] = milliseconds(words[1])
    return found


def milliseconds(text):
    for unit, factor in (("us", 0.001), ("ms", 1.0), ("s", 1000.0)):
        if text.endswith(unit):
            return float(text[:-len(unit)]) * factor
    raise ValueError(text)


def rotated(sides, round_):
    """So that no side always follows the same other one."""
    at = round_ % len(sides)
    return sides[at:] + sides[:at]
