#!/usr/bin/python3
"""pictures.py <port> [names…]: the pictures of the pages in docs/pictures, taken anew from a lab of its own."""

import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import harness  # noqa: E402

FOLDER = harness.ROOT / "docs" / "pictures"


def home(window, _):
    window.open("/")
    window.text("performance")


def council(window, _):
    """A desk with three pins, and a fourth that was wanted."""
    window.open("/council")
    window.log_in("council1")
    notices = (("주차 안내", "후문 주차장은 행사 기간에 닫습니다. 대중교통을 이용해 주세요.", False),
               ("푸드트럭 쿠폰", "쿠폰은 오후 2시에 열립니다.\n한 사람에 한 장.", False),
               ("우천 시 안내", "비가 오면 공연은 체육관에서 이어집니다.", True),
               ("분실물 센터", "본관 1층 안내 데스크에서 찾아가세요.", True),
               ("개막 공연 시간 변경", "개막 공연은 18시 30분에 시작합니다.", True),
               ("Main stage at nine", "Come early.", True))
    for title, content, is_pinned in notices:
        window.type("title", title)
        window.type("content", content)
        window.script("document.querySelector('[name=pin]').checked = arguments[0]", is_pinned)
        window.click("publish")
        if title != notices[-1][0]:
            window.says("pinned" if is_pinned else "note", title)
    window.text("full")
    window.script("document.activeElement.blur()")
    window.until(lambda: not window.script("return document.querySelector('.toast')"), "the end of the toasts")


def sell(lab, person, location, number):
    user = lab.post("/users/login", {"userId": person, "userPw": "user-demo-1"})
    lab.post("/customer/performances/1/reservations", {"userId": user["id"], "seatLocation": location, "seatNumber": number},
             user["accessToken"])


def seats(window, lab):
    """A hall that fills, and a person who has two seats and was late for a third."""
    window.open("/seats/1")
    window.until(window.is_live, "a live hall")
    window.log_in("user1")
    for number in (44, 45):
        sell(lab, "user1", "B", number)
    chance = random.Random(1)
    for at in chance.sample([(section, number) for section in "ABCDE" for number in range(1, 101)
                             if (section, number) not in (("B", 44), ("B", 45), ("C", 50))], 190):
        sell(lab, f"user{chance.randint(2, 19)}", *at)
    window.open("/seats/1")
    window.until(window.is_live, "a live hall")
    window.says("mine", "B 44")
    window.choose("C", 50)
    sell(lab, "user20", "C", 50)
    window.text("notice")
    window.script("document.activeElement.blur()")


def seats_phone(window, lab):
    """50,000 seats, three quarters of them sold."""
    admin = lab.post("/councils/login", {"username": "admin", "password": "admin-demo-1"})["accessToken"]
    made = lab.post("/performance", {
        "placeId": lab.get("/performances/1")["content"]["place"]["id"], "category": "CONCERT", "startAt": "2030-05-20 18:00:00",
        "endAt": "2030-05-20 21:00:00", "startReservationAt": "2026-01-01 00:00:00", "endReservationAt": "2030-05-20 00:00:00",
        "title": "대운동장 페스티벌", "content": "모두의 축제", "acting": "모두", "filmRating": "ALL", "price": 10000,
        "seats": [{"location": f"S{section}", "seatCount": 500} for section in range(1, 101)]}, admin)["content"]["id"]
    known = lab.settings()
    subprocess.run(["psql", "-h", "127.0.0.1", "-p", known["FESTA_DATABASE_PORT"], "-U", "festabook", "-d", known["FESTA_DATABASE_NAME"], "-q", "-c",
                    f"UPDATE seats SET is_reserved = true WHERE performance_id = {made} AND get_byte(decode(md5(id::text), 'hex'), 0) < 192"],
                   check=True, env={**os.environ, "PGPASSWORD": known["FESTA_DATABASE_PASSWORD"]})
    window.open(f"/seats/{made}")
    window.until(window.is_live, "a live hall")
    window.until(lambda: "12," in window.text("free"), "its seats")


def docs(window, _):
    window.open("/docs")
    window.until(lambda: window.script("return document.querySelectorAll('details.operation').length > 0"), "the calls")


LOOKS = {home: {"width": 1180, "height": 900}, council: {"width": 1180, "height": 860}, docs: {"width": 1180, "height": 900},
         seats: {"width": 1180, "height": 820}, seats_phone: {"width": 390, "height": 780, "dark": True, "language": "ko"}}


def main(port, names):
    lab = harness.Lab(int(port))
    try:
        for page, look in LOOKS.items():
            name = page.__name__.replace("_", "-")
            if names and name not in names:
                continue
            window = harness.Window(lab.address, **look)
            window.browser.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
            try:
                page(window, lab)
                window.browser.save_screenshot(str(FOLDER / f"{name}.png"))
                print(f"docs/pictures/{name}.png", flush=True)
            finally:
                window.browser.quit()
    finally:
        lab.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
