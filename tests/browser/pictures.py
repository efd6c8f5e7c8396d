#!/usr/bin/python3
"""pictures.py <port> [names…]: the pictures of the pages in docs/pictures, taken anew from a lab of its own. The halls' pictures show an opening
second and are not made here."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import harness  # noqa: E402

FOLDER = harness.ROOT / "docs" / "pictures"


def home(window):
    window.open("/")
    window.text("performance")


def council(window):
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


def docs(window):
    window.open("/docs")
    window.until(lambda: window.script("return document.querySelectorAll('details.operation').length > 0"), "the calls")


SIZES = {home: (1180, 900), council: (1180, 860), docs: (1180, 900)}


def main(port, names):
    lab = harness.Lab(int(port))
    try:
        for page, (width, height) in SIZES.items():
            if names and page.__name__ not in names:
                continue
            window = harness.Window(lab.address, width=width, height=height)
            try:
                page(window)
                window.browser.save_screenshot(str(FOLDER / f"{page.__name__}.png"))
                print(f"docs/pictures/{page.__name__}.png", flush=True)
            finally:
                window.browser.quit()
    finally:
        lab.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
