#!/usr/bin/env python3
"""Crowds for ./dev compose test, on the standard library alone.

rush.py seats  sells a new performance to several contenders per seat
rush.py claims gives a new coupon away through a queue

A crowd behaves as clients should: who is told to come back, or gets no answer, repeats the request with its Idempotency-Key.
Exit 0 only when everything was sold, and to one each; what the service said is written to --out for a look into the database.
"""
import argparse
import base64
import collections
import http.client
import json
import queue
import random
import subprocess
import sys
import threading
import time
import urllib.parse
import uuid

PATIENCE = 120  # seconds for one request and its repetitions
COME_BACK = {"SEAT_BUSY", "REQUEST_IN_PROGRESS"}


class Client:
    """One connection, kept open; for one thread."""

    def __init__(self, base, headers):
        self.address = urllib.parse.urlsplit(base).netloc
        self.headers = headers
        self.connection = None

    def ask(self, method, path, token=None, body=None, key=None):
        """(status, object), or (0, {}) when the connection broke."""
        headers = dict(self.headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
        if token:
            headers["Authorization"] = "Bearer " + token
        if key:
            headers["Idempotency-Key"] = key
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection(self.address, timeout=30)
            self.connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            response = self.connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            self.connection = None
            return 0, {}
        try:
            return response.status, json.loads(text or b"{}")
        except ValueError:  # the proxy's own page
            return response.status, {}


def uid_of(token):
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["uid"]


class Crowd:
    def __init__(self, options):
        self.options = options
        with open(options.tokens, encoding="utf-8") as file:
            self.admin, *self.users = file.read().split()
        self.headers = {}
        if options.strategy:
            self.headers = {"X-Concurrency": options.strategy, "X-Backstop": "on"}
        self.mutex = threading.Lock()
        self.answers = collections.Counter()
        self.won = []
        self.event = None

    def client(self):
        return Client(self.options.base, self.headers)

    def insist(self, client, path, token, body):
        """Repeats until there is an answer that settles it."""
        key = str(uuid.uuid4())
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            status, answer = client.ask("POST", path, token, body, key)
            code = answer.get("code", "")
            with self.mutex:
                self.answers[f"{status} {code}".strip()] += 1
            if status != 0 and status < 500 and code not in COME_BACK:
                return status, answer
            time.sleep(random.uniform(0.02, 0.2))
        raise SystemExit(f"no final answer to {path} within {PATIENCE} s: {status} {answer}")

    def win(self, row):
        with self.mutex:
            self.won.append(row)
            if self.options.then and self.event is None and len(self.won) >= self.options.after:
                print(f"after {len(self.won)}: {self.options.then}", flush=True)
                self.event = subprocess.Popen(self.options.then, shell=True)

    def run(self, work, one):
        """`one(client, item)` for all of `work` on many threads."""
        items = queue.SimpleQueue()
        for item in work:
            items.put(item)
        failures = []

        def loop():
            client = self.client()
            try:
                while not failures:
                    one(client, items.get_nowait())
            except queue.Empty:
                pass
            except BaseException as error:  # told below, on the main thread
                failures.append(error)

        threads = [threading.Thread(target=loop) for _ in range(self.options.threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        if self.options.then and (self.event is None or self.event.wait() != 0):
            raise SystemExit("what was to happen meanwhile did not, or failed: " + self.options.then)

    def must(self, expected, method, path, token, body=None):
        status, answer = self.client().ask(method, path, token, body)
        if status != expected:
            raise SystemExit(f"{method} {path}: {status} {answer}")
        return answer

    def seats(self):
        count = self.options.count
        performance = self.must(200, "POST", "/performance", self.admin, {
            "placeId": 1, "category": "CONCERT", "startAt": "2099-01-01 18:00:00", "endAt": "2099-01-01 21:00:00",
            "startReservationAt": "2020-01-01 00:00:00", "endReservationAt": "2098-01-01 00:00:00", "title": "rush",
            "content": "rush", "acting": "rush", "filmRating": "ALL", "price": 1,
            "seats": [{"location": "R", "seatCount": count}]})["content"]["id"]
        numbers = list(range(1, count + 1))
        random.shuffle(numbers)
        # All who want one seat come at about the same time.
        work = [(number, token) for number in numbers for token in random.sample(self.users, self.options.contenders)]

        def buy(client, item):
            number, token = item
            status, answer = self.insist(client, f"/customer/performances/{performance}/reservations", token,
                                         {"userId": uid_of(token), "seatLocation": "R", "seatNumber": number})
            if status == 200:
                self.win((answer["content"]["id"], number, uid_of(token)))
            elif answer.get("code") != "ALREADY_RESERVED_SEAT":
                raise SystemExit(f"neither a sale nor ALREADY_RESERVED_SEAT: {status} {answer}")

        self.run(work, buy)
        if sorted(number for _, number, _ in self.won) != sorted(numbers):
            raise SystemExit(f"{len(self.won)} sales said of {count} seats")
        return performance

    def claims(self):
        coupon = self.must(201, "POST", "/coupons", self.admin,
                           {"name": "rush", "stock": self.options.count, "onePerUser": True})["couponId"]

        def claim(client, token):
            status, answer = self.insist(client, f"/coupons/{coupon}/claims", token, None)
            if status != 202:
                raise SystemExit(f"not queued: {status} {answer}")
            path = f"/coupons/claims/{answer['claimId']}"
            deadline = time.monotonic() + PATIENCE
            while answer.get("state") not in ("DONE", "FAILED"):
                if time.monotonic() > deadline:
                    raise SystemExit(f"{path} is not decided: {answer}")
                time.sleep(0.1)
                _, answer = client.ask("GET", path, token)
            if answer["state"] == "DONE":
                self.win((answer["claimId"], answer["sequence"], uid_of(token)))
            elif answer["code"] != "COUPON_SOLD_OUT":
                raise SystemExit(f"{path}: {answer}")

        self.run(self.users[:self.options.count + self.options.contenders], claim)
        if sorted(sequence for _, sequence, _ in self.won) != list(range(1, self.options.count + 1)):
            raise SystemExit(f"{len(self.won)} claims granted of {self.options.count}")
        return coupon


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["seats", "claims"])
    parser.add_argument("--base", required=True, help="the proxy, http://host:port")
    parser.add_argument("--tokens", required=True, help="a file: the admin's token, then the users'")
    parser.add_argument("--out", required=True, help="what was won: id, seat or sequence, user; the first line is what was sold")
    parser.add_argument("--count", type=int, required=True, help="seats, or stock")
    parser.add_argument("--contenders", type=int, default=5, help="per seat; of claims: how many too many")
    parser.add_argument("--threads", type=int, default=40)
    parser.add_argument("--strategy", help="X-Concurrency, with the backstop on")
    parser.add_argument("--after", type=int, default=1, help="so many are won when --then is run")
    parser.add_argument("--then", help="a command to run meanwhile")
    parser.add_argument("--flawless", action="store_true", help="fails if a client notices that an instance stops")
    options = parser.parse_args()
    crowd = Crowd(options)
    sold = crowd.seats() if options.what == "seats" else crowd.claims()
    print(dict(crowd.answers.most_common()), flush=True)
    with open(options.out, "w", encoding="utf-8") as file:
        print(sold, file=file)
        for row in crowd.won:
            print(*row, sep="\t", file=file)
    # A broken connection, a page of the proxy's own, or an instance's refusal.
    failed = [answer for answer in crowd.answers if answer in ("0", "502", "503", "504", "503 SHUTTING_DOWN")]
    if options.flawless and failed:
        raise SystemExit(f"seen by clients: {failed}")


if __name__ == "__main__":
    sys.exit(main())
