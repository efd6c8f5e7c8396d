"""What clients sent to Redis, from INFO commandstats."""

import re

# All that the lock storages send: they do everything by scripts. What those scripts call is counted by INFO commandstats,
# too, under the commands' own names; so are the readings of this runner. Neither is among these.
SENT = ("evalsha", "eval", "subscribe", "unsubscribe")
_LINE = re.compile(r"cmdstat_([^:]+):calls=(\d+)")


def calls(info):
    """{command: calls}"""
    return {name: int(count) for name, count in _LINE.findall(info)}


def sent(before, after):
    """Commands of the storages between two readings, each a list of INFO texts, one per server.

    A server that restarted in between counts from nothing again: its first reading is then left out."""
    total = 0
    for first, last in zip(before, after):
        old, new = calls(first), calls(last)
        for name in SENT:
            grown = new.get(name, 0) - old.get(name, 0)
            total += grown if grown >= 0 else new.get(name, 0)
    return total
