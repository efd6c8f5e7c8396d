// The page of addresses at which there is nothing.
import { $, frame, h, words } from "./shared.mjs";

words({
  "title.missing": ["없는 주소", "Not found"],
  "missing.title": ["이 주소에는 아무것도 없습니다.", "There is nothing at this address."],
  "missing.performance": ["존재하지 않는 공연입니다.", "There is no such performance."],
  "missing.lead": ["주소를 다시 확인하거나, 아래에서 찾아보세요.", "Please check the address, or look here:"],
  "missing.home": ["처음 화면", "The start page"],
  "missing.performances": ["예매할 수 있는 공연", "Performances with seats to buy"],
  "missing.docs": ["API의 모든 호출", "Every call of the API"],
});

frame("missing");
const isHall = location.pathname.startsWith("/seats/");
$("main").append(h("section", { class: "card stack missing" },
  h("p", { class: "missing-number", "aria-hidden": "true" }, "404"),
  h("h1", { t: isHall ? "missing.performance" : "missing.title" }),
  h("p", { class: "muted", t: "missing.lead" }),
  h("ul", { class: "ways" }, [["/", "missing.home"], ["/#performances", "missing.performances"], ["/docs", "missing.docs"]].map(([href, key]) =>
    h("li", {}, h("a", { href, t: key }))))));
