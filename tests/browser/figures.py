#!/usr/bin/python3
"""figures.py <port>: how long until a page can be used, and until a sale in one browser is seen in another, in milliseconds, as
Markdown. Against a lab of its own; the moments are noted inside the browsers."""

import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import harness  # noqa: E402

ROUNDS = 9
# What is there when a person can begin.
USABLE = {"/": "[data-test=performance]", "/seats/1": "[data-live=yes]", "/council": "[data-test=demo-login]",
          "/lab": "[data-test=demo-login]", "/operator": "[data-test=demo-login]", "/docs": "details.operation"}
NOTE_WHEN_USABLE = """
  new MutationObserver((_, observer) => {
    const wanted = %s[location.pathname];
    if (!document.querySelector(wanted)) return;
    observer.disconnect();
    window.usableAfter = performance.now();
  }).observe(document, {subtree: true, childList: true, attributes: true});
"""
# Date.now() is the same clock in all browsers of one machine.
NOTE_CHANGES = """
  const sold = () => document.querySelector('[data-test=sold]')?.innerText;
  let last = sold();
  window.changedAt = 0;
  new MutationObserver(() => { if (sold() !== last) { last = sold(); window.changedAt = Date.now(); } })
    .observe(document.body, {subtree: true, childList: true, characterData: true});
"""
NOTE_ANSWERS = """
  const send = window.fetch;
  window.fetch = async (path, options) => {
    const answer = await send(path, options);
    if (options?.method === 'POST') window.answeredAt = Date.now();
    return answer;
  };
"""


def usable_after(window, path, is_cold):
    """Milliseconds from the navigation on; cold: with an empty cache."""
    if is_cold:
        window.browser.execute_cdp_cmd("Network.clearBrowserCache", {})
    window.browser.get("about:blank")
    window.open(path)
    return window.until(lambda: window.script("return window.usableAfter"), path)


def way_of_a_sale(buyer, watcher, number):
    """Milliseconds from the buyer's answer, and from their click, until the watcher's page shows the sale."""
    buyer.choose("D", number)
    buyer.text("buy")
    watcher.script("window.changedAt = 0")
    clicked = buyer.script("const at = Date.now(); document.querySelector('[data-test=buy]').click(); return at")
    seen = watcher.until(lambda: watcher.script("return window.changedAt"), "the sale")
    buyer.says("notice", "It is yours")
    return seen - buyer.script("return window.answeredAt"), seen - clicked


def told(name, values):
    return f"| {name} | {statistics.median(values):.0f} | {min(values):.0f} – {max(values):.0f} |"


def measure(lab):
    window = harness.Window(lab.address)
    watcher = harness.Window(lab.address)
    try:
        window.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NOTE_WHEN_USABLE % USABLE})
        yield f"| median of {ROUNDS} | ms | from – to |\n|---|---|---|"
        for path in USABLE:
            for cache, is_cold in (("empty", True), ("warm", False)):
                yield told(f"`{path}` can be used, {cache} cache", [usable_after(window, path, is_cold) for _ in range(ROUNDS)])
        for one in (window, watcher):
            one.open("/seats/1")
            one.until(one.is_live, "a live hall")
        window.log_in("user5")
        window.script(NOTE_ANSWERS)
        watcher.script(NOTE_CHANGES)
        ways = [way_of_a_sale(window, watcher, number) for number in range(1, ROUNDS + 1)]
        yield told("a sale is on another screen, after its answer", [way[0] for way in ways])
        yield told("the same, after the click", [way[1] for way in ways])
    finally:
        window.browser.quit()
        watcher.browser.quit()


def main(port):
    lab = harness.Lab(int(port))
    try:
        for line in measure(lab):
            print(line, flush=True)
    finally:
        lab.stop()


if __name__ == "__main__":
    main(sys.argv[1])
