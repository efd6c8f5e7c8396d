"""Lists that many people repeat, over an answer that does nothing."""
import urllib.request

from loadtest.bench.figures import say
from loadtest.bench.load import IN_FLIGHT, median, rotated, wrk


def run(lab, rounds, seconds):
    server = lab.server("memory", FESTA_LOCK_STRATEGY="memory")
    path = f"/performances/{lab.hall(500)}/seats"
    with urllib.request.urlopen(server.url() + path, timeout=10) as response:
        tag = response.headers["ETag"]
    sides = {"healthz": lambda: wrk(server, seconds, IN_FLIGHT),
             "304": lambda: wrk(server, seconds, IN_FLIGHT, "unchanged.lua", path, tag),
             "200": lambda: wrk(server, seconds, IN_FLIGHT, path=path)}
    rates = {name: [] for name in sides}
    for round_ in range(rounds + 1):
        for name in rotated(list(sides), round_):
            found = sides[name]()
            if found["others"]:
                raise RuntimeError(f"{name}: not all were answered so: {found}")
            if round_ > 0:
                rates[name].append(found["rate"])
        if round_ > 0:
            say(f"  round {round_}: " + ", ".join(f"{name} {all_[-1]:.0f}/s" for name, all_ in rates.items()))
    for name, goal in (("304", 0.8), ("200", 0.35)):
        lab.figures.result(f"list of 500 seats unchanged, {name}, over /healthz",
                           [a / b for a, b in zip(rates[name], rates["healthz"])], goal=goal,
                           detail=f"{median(rates[name]):.0f}/s of {median(rates['healthz']):.0f}/s")
