"""Clients that wrk cannot be: thousands that wait for one lock, and ones that come at a given rate."""
import asyncio
import json
import statistics
import time
import urllib.error
import urllib.request

from loadtest.bench.stand import memory_mb


def post(path, token, body):
    text = json.dumps(body, separators=(",", ":"))
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(text.encode())}\r\n\r\n{text}").encode()


async def answer(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    await reader.readexactly(length)
    return int(head.split(b" ", 2)[1])


def waiting_now(server):
    with urllib.request.urlopen(server.url() + "/metrics", timeout=30) as response:
        text = response.read().decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith("festa_lock_waiting{"))


async def measure(lab, server, count):
    """KiB per idle connection, and per request that waits for one lock."""
    before = memory_mb(server.pid)
    streams = []
    for _ in range(0, count, 500):
        streams += await asyncio.gather(*(asyncio.open_connection("127.0.0.1", server.port) for _ in range(500)))
    # Answered once each, so that what a connection keeps is there.
    for reader, writer in streams:
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await asyncio.gather(*(answer(reader) for reader, _ in streams))
    connected = memory_mb(server.pid)
    # Another session has locked the row, so the first request holds the lock and all others wait for it.
    blocker = await asyncio.create_subprocess_exec(
        "psql", "-X", "-q", *lab.postgres.libpq(), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        env=lab.postgres.libpq_environment())
    text = post("/announcements", lab.tokens("council1")[0], {"title": "t", "content": "c", "isPinned": True})
    try:
        blocker.stdin.write(b"BEGIN;\nLOCK TABLE festivals IN ACCESS EXCLUSIVE MODE;\n\\echo locked\n")
        await blocker.stdin.drain()
        await blocker.stdout.readline()
        for _, writer in streams:
            writer.write(text)
        most, deadline = 0.0, time.monotonic() + 60
        while time.monotonic() < deadline:
            waits = await asyncio.to_thread(waiting_now, server)
            most = max(most, waits)
            if waits >= count * 0.99:
                break
            await asyncio.sleep(0.05)
        if most < count * 0.99:
            raise RuntimeError(f"only {most:.0f} of {count} requests were waiting")
        waiting = memory_mb(server.pid)
    finally:
        blocker.stdin.write(b"ROLLBACK;\n\\q\n")
        await blocker.stdin.drain()
        await blocker.wait()
    statuses = await asyncio.gather(*(answer(reader) for reader, _ in streams))
    for _, writer in streams:
        writer.close()
    unanswered = [status for status in statuses if status not in (201, 409, 503)]
    if unanswered:
        raise RuntimeError(f"waiting requests were answered {unanswered[:3]}")
    return (connected - before) * 1024 / count, (waiting - before) * 1024 / count


def refusal(lab, server, performance):
    """The code by which seat 1 is refused."""
    user, token = lab.buyers.read_text().split()[:2]
    body = json.dumps({"userId": int(user), "seatLocation": "A", "seatNumber": 1}).encode()
    request = urllib.request.Request(f"{server.url()}/customer/performances/{performance}/reservations", body,
                                     {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10):
            return ""
    except urllib.error.HTTPError as error:
        return json.load(error)["code"]


def cost(lab, server, count):
    return asyncio.run(measure(lab, server, count))


async def arrive(lab, server, performance, rate, seconds):
    buyers = [line.split() for line in lab.buyers.read_text().splitlines()]
    idle, taken, refused = [], [], []

    async def one(number, due):
        reader, writer = idle.pop() if idle else await asyncio.open_connection("127.0.0.1", server.port)
        user, token = buyers[number % len(buyers)]
        writer.write(post(f"/customer/performances/{performance}/reservations", token,
                          {"userId": int(user), "seatLocation": "A", "seatNumber": number + 1}))
        status = await answer(reader)
        # From when it should have been sent.
        (taken if status == 200 else refused).append(time.perf_counter() - due)
        idle.append((reader, writer))
        if status not in (200, 503):
            raise RuntimeError(f"a sale at half of capacity was answered {status}")

    began, running = time.perf_counter(), []
    for number in range(int(rate * seconds)):
        due = began + number / rate
        late = due - time.perf_counter()
        if late > 0:
            await asyncio.sleep(late)
        running.append(asyncio.ensure_future(one(number, due)))
    await asyncio.gather(*running)
    for _, writer in idle:
        writer.close()
    ordered = sorted(t * 1000 for t in taken)
    return {"p50": statistics.median(ordered), "p99": ordered[int(len(ordered) * 0.99)], "max": ordered[-1],
            "refused": len(refused), "asked": len(running)}


def paced(lab, server, performance, rate, seconds):
    return asyncio.run(arrive(lab, server, performance, rate, seconds))
