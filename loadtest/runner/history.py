"""The history of a run as text for history_check: grants from the services' logs, rows from the database, answers from
k6. Pure: text in, text out."""

import json

# After these a row may exist or not: no answer, an unknown COMMIT, a proxy that lost the instance.
UNKNOWN = (0, 500, 502, 504)
NS = 1_000_000_000


def word(text):
    """As History writes it: no blanks, "%" for nothing."""
    text = str(text)
    if not text:
        return "%"
    return "".join(chr(byte) if 0x20 < byte < 0x7F and byte != 0x25 else f"%{byte:02x}" for byte in text.encode())


def lock_lines(log, wanted):
    """The services' lines about locked requests, of the requests wanted only."""
    found = []
    for line in log.splitlines():
        if '"event":"lock"' in line:
            try:
                said = json.loads(line)
            except ValueError:  # cut by a kill -9
                continue
            if said["request_id"] in wanted:
                found.append(said)
    return found


_ENDS = {"released": "released", "release_unknown": "released", "left_to_expire": "expired", "lost": "lost"}


def holds(locks):
    """Grants and ends. Requests that were refused, or whose strategy takes no lock, held nothing."""
    lines = []
    for said in locks:
        if said["fence"] and said["outcome"] in _ENDS:
            head = f"{said['key']} {word(said['request_id'])} {said['fence']}"
            shared = f" {word(said['hold'])}" if said.get("hold") else ""
            lines.append(f"granted {head} {said['granted_ns']}{shared}")
            lines.append(f"ended {head} {said['ended_ns']} {_ENDS[said['outcome']]}")
    return lines


def arrivals(locks, slack_ns):
    """When requests asked for their lock. That they were in line is known only later: by then, it is assumed, they were."""
    lines = []
    for said in locks:
        if said["fence"]:
            asked = said["granted_ns"] - int(said["wait_ms"] * 1e6)
            lines.append(f"arrived {said['key']} {word(said['request_id'])} {asked} {asked + slack_ns}")
    return lines


def turns(answers, sequence_of):
    """Claims of a queue: in line when their 202 had come, granted in the order of their numbers."""
    lines = []
    for answer in answers:
        sequence = sequence_of.get(str(answer["row"]))
        if sequence is not None and 200 <= answer["status"] < 300:
            sent, received = int(answer["sent"] * 1e6), int(answer["received"] * 1e6)
            who = word(answer["who"])
            lines.append(f"arrived queue {who} {sent} {received}")
            lines.append(f"granted queue {who} {sequence} {sequence}")
            lines.append(f"ended queue {who} {sequence} {sequence} released")
    return lines


def operations(answers, stored_by):
    """What clients wanted, once each: ({who: answer}, sentences about effects that happened twice). All successes under
    one Idempotency-Key are one operation and must name one row. `stored_by`: statuses that say that a row was stored."""
    found, rows, broken = {}, {}, []
    for answer in answers:
        if answer["status"] in stored_by and answer.get("idempotency"):
            name, row = (answer["user"], answer["idempotency"]), str(answer["row"])
            known = rows.setdefault(name, row)
            if known == row and answer["who"] != rows.setdefault((name, row), answer["who"]):
                continue  # the first answer again
            if known != row:
                broken.append(f"key {answer['idempotency']} of user {answer['user']} stored two rows, {known} and {row}")
        found[answer["who"]] = answer
    return found, broken


def owners(rows, answers, stored_by):
    """Which request stored which row: (the request by row, sentences about rows that no request explains).

    A row is of the request that was told of it; else of one without a known outcome by the same user for the same key.
    `rows`: [{"id", "user", "key"}]; user or key None: any."""
    told = {}
    for who, answer in answers.items():
        if answer["status"] in stored_by:
            told.setdefault(str(answer["row"]), who)
    open_ = [answer for answer in answers.values() if answer["status"] in UNKNOWN]
    by_row, broken = {}, []
    for row in rows:
        name = str(row["id"])
        if name in told:
            by_row[name] = told[name]
            continue
        match = next((answer for answer in open_ if row.get("user") in (None, answer.get("user"))
                      and row.get("key") in (None, answer["key"])), None)
        if match is None:
            broken.append(f"row {name} exists, but no client was told of it")
        else:
            open_.remove(match)
            by_row[name] = match["who"]
    return by_row, broken


def rows_and_answers(by_row, answers, locks, stored_by):
    """Commits and answers. COMMIT was sent after the grant and acknowledged before the end."""
    of = {said["request_id"]: said for said in locks if said["fence"]}
    lines = []
    for row, who in by_row.items():
        lock = of.get(who)
        if lock and lock["ended_ns"] >= lock["granted_ns"]:
            lines.append(f"committed {lock['key']} {word(who)} {lock['fence']} {word(row)} {lock['granted_ns']} "
                         f"{lock['ended_ns']}")
        else:
            # Without a lock there is no order to be kept; each under a key of its own.
            lines.append(f"committed {word('row ' + row)} {word(who)} 0 {word(row)} 0 0")
    for who, answer in answers.items():
        # 0 is no answer; a success of another kind (a pin taken off, a seat given back) stores nothing.
        if answer["status"] and (answer["status"] in stored_by or not 200 <= answer["status"] < 300):
            row = answer["row"] if answer["status"] in stored_by else ""
            lines.append(f"answered {word(who)} {answer['status']} {word(row)}")
    return lines


def false_refusals(answers, log):
    """Operations that were refused for certain, and yet their repetition found them done: it got an answer without coming
    to the lock, and no attempt before it was without a known outcome. What a queue accepts (202) takes no lock and is not judged
    here."""
    reached = {said["request_id"] for said in lock_lines(log, {answer["who"] for answer in answers})}
    attempts = {}
    for answer in sorted(answers, key=lambda each: each["sent"]):
        if answer.get("idempotency"):
            attempts.setdefault((answer["user"], answer["idempotency"]), []).append(answer)
    broken = []
    for (user, key), tries in attempts.items():
        last = tries[-1]
        unclear = any(answer["status"] in UNKNOWN or answer["code"] == "REQUEST_IN_PROGRESS" for answer in tries[:-1])
        if 200 <= last["status"] < 300 and last["status"] != 202 and last["who"] not in reached and not unclear and len(tries) > 1:
            if not any(200 <= answer["status"] < 300 for answer in tries[:-1]):
                broken.append(f"key {key} of user {user} was refused, and then found to be done as row {last['row']}")
    return broken
