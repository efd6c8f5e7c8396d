// What all pages share: words in two languages, DOM, calls, sessions, streams, and the frame around each page.
import { Intentions, isFinal } from "./intentions.mjs";
import { eventReader, pauseBefore } from "./sse.mjs";
import { freePlace } from "./places.mjs";

// ---- Modes: what this instance offers ("demo", "lab"). The service writes them into the page.
export const modes = new Set((document.documentElement.dataset.modes ?? "").split(" ").filter(Boolean));

// ---- Words. words({key: [Korean, English]}) adds some; t(key, values) gives the text, {name} in it replaced.
const texts = { ko: {}, en: {} };
const languageListeners = new Set();
let language = localStorage.getItem("festa.language") ?? (navigator.language.toLowerCase().startsWith("ko") ? "ko" : "en");

export function words(more) {
  for (const [key, [korean, english]] of Object.entries(more)) {
    texts.ko[key] = korean;
    texts.en[key] = english;
  }
}
export function t(key, values = {}) {
  const text = texts[language][key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}
export const currentLanguage = () => language;
// Called when the language changes, after elements made with h({t: …}) have their new text.
export function onLanguage(listener) {
  languageListeners.add(listener);
}
function setLanguage(name) {
  language = name;
  localStorage.setItem("festa.language", name);
  document.documentElement.lang = name;
  for (const element of document.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  for (const listener of languageListeners) listener();
}
const locale = () => (language === "ko" ? "ko-KR" : "en-GB");
export const number = (value) => new Intl.NumberFormat(locale()).format(value);
export const won = (value) => (language === "ko" ? `${number(value)}원` : `₩${number(value)}`);
// An ISO local date-time of the API.
export function dateTime(text) {
  const date = new Date(text.slice(0, 23));
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(date);
}

// ---- DOM. h("p", {class: "lead", t: "key", on: {click}}, child, "text", [more]).
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "t") {
      element.dataset.t = value;
      element.textContent = t(value);
    } else if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "value") {
      element.value = value;
    } else {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}
// svg("rect", {x: 1, class: "bar"}, child, "text").
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
// A region for content that may be wider than the screen: it has a name and can be scrolled by keyboard.
export const wide = (name, ...children) => h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, ...children);
export const $ = (id) => document.getElementById(id);
// The focus stays where it was: on the element with the same data-keep if there is one, else on the one with data-land, else on
// `element`. A person at a keyboard never begins anew at the top of the page because something was drawn again.
export function fill(element, ...children) {
  const focused = element.contains(document.activeElement) && element !== document.activeElement ? document.activeElement : null;
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (focused === null || element.contains(focused)) return;
  const again = focused.dataset.keep === undefined ? null : element.querySelector(`[data-keep="${CSS.escape(focused.dataset.keep)}"]`);
  land(again ?? element.querySelector("[data-land]") ?? element);
}
// Gives the focus to an element, also to one that is no control.
export function land(element) {
  if (!element.matches("a[href], button, input, select, textarea, summary, [tabindex]")) element.setAttribute("tabindex", "-1");
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
}
// part(element, dependsOn, make): fills an element anew only when what it depends on has changed, or the language.
const shown = new WeakMap();
export function part(element, dependsOn, make) {
  const now = JSON.stringify([language, dependsOn]);
  if (shown.get(element) === now) return;
  shown.set(element, now);
  fill(element, make());
}

// ---- State: get(), set(changes), listen(listener).
export function store(initial) {
  let value = initial;
  const listeners = new Set();
  return {
    get: () => value,
    set(changes) {
      value = { ...value, ...changes };
      for (const listener of listeners) listener(value);
    },
    listen(listener) {
      listeners.add(listener);
    },
  };
}

// ---- Calls. The error of a call is for people: its message is in their language.
export class CallError extends Error {
  constructor(status, problem, retryAfter) {
    super(problem.message ?? t("shared.unreachable"));
    this.status = status;
    this.code = problem.code ?? "UNREACHABLE";
    this.fields = Object.fromEntries((problem.errors ?? []).map((error) => [error.field, error.message]));
    this.retryAfter = retryAfter;
  }
}
function headersOf({ token, festival, key, body }) {
  const headers = { "Accept-Language": language };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (token) headers.Authorization = `Bearer ${token}`;
  if (festival) headers.festival = String(festival);
  if (key) headers["Idempotency-Key"] = key;
  return headers;
}
// call("POST", "/path", {body, token, festival, key, headers, cache}): the JSON of the answer, null without a body. Throws CallError.
export async function call(method, path, options = {}) {
  let response;
  let text;
  try {
    response = await fetch(path, {
      method,
      headers: { ...headersOf(options), ...options.headers },
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal,
      cache: options.cache,
    });
    text = await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new CallError(0, {});
  }
  let json = null;
  try {
    json = text === "" ? null : JSON.parse(text);
  } catch {
    throw new CallError(response.status, {});
  }
  if (!response.ok) throw new CallError(response.status, json ?? {}, Number(response.headers.get("Retry-After") ?? 0));
  return json;
}

// ---- Wishes: what a person wants done has one effect, however often it is tried. A wish is [name of the person, method, path, body].
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
export const wishes = new Intentions(sessionStorage, newKey);
export const wishOf = (person, method, path, body = null) => [person.name, method, path, body];
// call() as this person, with the Idempotency-Key of the wish; the wish gets a new key after `lifetime` ms. Throws CallError.
export async function carryOut(person, method, path, body = null, lifetime = Infinity) {
  const wish = wishOf(person, method, path, body);
  try {
    const answer = await call(method, path, { token: person.token, key: wishes.keyOf(wish, lifetime), body: body ?? undefined });
    wishes.settle(wish);
    return answer;
  } catch (error) {
    if (error instanceof CallError && isFinal(error)) wishes.settle(wish);
    throw error;
  }
}

// ---- Sessions: one per realm ("user", "council"), gone with the tab.
const LONGEST_TIMER_MS = 2 ** 31 - 1;
function claimsOf(token) {
  const bytes = Uint8Array.from(atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}
export function session(realm) {
  const key = `festa.${realm}`;
  let clock = null;
  const kept = store(read());
  function read() {
    const token = sessionStorage.getItem(key);
    clearTimeout(clock);
    if (!token) return { person: null, hasEnded: false };
    const claims = claimsOf(token);
    const left = claims.exp * 1000 - Date.now();
    if (left <= 0) {
      sessionStorage.removeItem(key);
      return { person: null, hasEnded: true };
    }
    clock = setTimeout(() => kept.set(read()), Math.min(left + 1, LONGEST_TIMER_MS));
    return { person: { token, name: claims.sub, id: claims.uid, festival: claims.festivalId, roles: claims.roles }, hasEnded: false };
  }
  function end(hasEnded) {
    sessionStorage.removeItem(key);
    kept.set({ ...read(), hasEnded });
  }
  return {
    person: () => kept.get().person,
    // The person was logged out without having asked for it.
    hasEnded: () => kept.get().hasEnded,
    listen: (listener) => kept.listen(({ person }) => listener(person)),
    async login(name, password) {
      const body = realm === "user" ? { userId: name, userPw: password } : { username: name, password };
      const answer = await call("POST", realm === "user" ? "/users/login" : "/councils/login", { body });
      sessionStorage.setItem(key, answer.accessToken);
      kept.set(read());
    },
    logout: () => end(false),
    // The service no longer accepts the token: the person has to log in again. True: it was that.
    failed(error) {
      const isOver = error instanceof CallError && error.status === 401 && kept.get().person !== null;
      if (isOver) end(true);
      return isOver;
    },
  };
}
// Accounts whose passwords are known; there are none outside the demo.
export const demoPeople = modes.has("demo")
  ? {
      user: Array.from({ length: 20 }, (_, i) => ({ name: `user${i + 1}`, password: "user-demo-1" })),
      council: ["council1", "council2"].map((name) => ({ name, password: "council-demo-1" })),
      admin: [{ name: "admin", password: "admin-demo-1" }],
    }
  : { user: [], council: [], admin: [] };

// A form that logs in: by name and password, or as a demo person with one click. `people`: keys of demoPeople.
export function loginForm(ofSession, ...people) {
  const known = people.flatMap((kind) => demoPeople[kind]);
  const name = h("input", { class: "input", autocomplete: "username", required: true, name: "name" });
  const password = h("input", { class: "input", type: "password", autocomplete: "current-password", required: true, name: "password" });
  const complaint = h("p", { class: "notice bad", role: "alert", hidden: true });
  const button = h("button", { class: "button", t: "shared.login" });
  async function submit(as, secret) {
    button.disabled = true;
    complaint.hidden = true;
    try {
      await ofSession.login(as, secret);
    } catch (error) {
      complaint.textContent = error.message;
      complaint.hidden = false;
    } finally {
      button.disabled = false;
    }
  }
  const choice = h("select", { class: "input", name: "demo" }, known.map((one) => h("option", { value: one.name }, one.name)));
  const demo = h("div", { class: "row" },
    h("label", { class: "field grow" }, h("span", { t: "shared.demoPerson" }), choice),
    h("button", { class: "button quiet end", type: "button", t: "shared.continueAs", "data-test": "demo-login",
      on: { click: () => submit(choice.value, known.find((one) => one.name === choice.value).password) } }));
  const ended = h("p", { class: "notice warn", role: "alert", t: "shared.ended", "data-test": "ended", hidden: !ofSession.hasEnded() });
  ofSession.listen(() => (ended.hidden = !ofSession.hasEnded()));
  return h("form", { class: "stack", on: { submit: (event) => { event.preventDefault(); submit(name.value, password.value); } } },
    ended, known.length > 0 && demo,
    h("label", { class: "field" }, h("span", { t: "shared.name" }), name),
    h("label", { class: "field" }, h("span", { t: "shared.password" }), password),
    complaint, button);
}

// ---- Streams. follow("/path", {token, headers, onEvent({event, data, id}), onState("open" | "waiting" | "ended", error)}) reads
// server-sent events with fetch, because EventSource sends no headers. Connects again when the stream is lost or silent, until
// stop() or an answer that will not change (4xx other than 429).
const SILENCE_MS = 40_000; // the service says something every 15 s
export function follow(path, { token, headers, onEvent, onState = () => {} }) {
  let stopped = false;
  let attempt = 0;
  let abort = null;
  let timer = null;
  let lastId;
  const quiet = () => {
    clearTimeout(timer);
    timer = setTimeout(() => abort?.abort(), SILENCE_MS);
  };
  async function readOnce() {
    abort = new AbortController();
    quiet();
    const more = lastId === undefined ? {} : { "Last-Event-ID": lastId };
    const response = await fetch(path, { headers: { ...headersOf({ token }), ...headers, ...more }, signal: abort.signal, cache: "no-store" });
    if (!response.ok) {
      const problem = await response.json().catch(() => ({}));
      throw new CallError(response.status, problem, Number(response.headers.get("Retry-After") ?? 0));
    }
    onState("open");
    const reader = eventReader((event) => {
      attempt = 0;
      onEvent(event);
    }, (id) => { lastId = id; });
    const decoder = new TextDecoder();
    const body = response.body.getReader();
    for (;;) {
      const { done, value } = await body.read();
      if (done) return;
      quiet();
      reader.read(decoder.decode(value, { stream: true }));
    }
  }
  const isFinal = (error) => error instanceof CallError && error.status >= 400 && error.status < 500 && error.status !== 429;
  async function run() {
    while (!stopped) {
      let wait = 0;
      try {
        await readOnce();
      } catch (error) {
        if (stopped) return;
        if (isFinal(error)) return onState("ended", error);
        wait = (error.retryAfter ?? 0) * 1000;
      } finally {
        clearTimeout(timer);
      }
      if (stopped) return;
      onState("waiting");
      await new Promise((resolve) => setTimeout(resolve, Math.max(wait, pauseBefore(attempt++, Math.random()))));
    }
  }
  // A browser may keep a page that was left, with its connections, of which it opens six per origin. The page is frozen then: it
  // connects again when the person comes back to it.
  addEventListener("pagehide", () => abort?.abort());
  run();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
      abort?.abort();
    },
  };
}

// ---- Toasts: a text that is shown for five seconds where there is nothing to press. They let clicks through.
const PRESSED = "main a[href], main button, main input, main select, main textarea, main summary, main canvas, header a[href], header button";
let toasts = null;
export function toast(text) {
  if (toasts === null) {
    document.body.append((toasts = h("div", { class: "toasts", role: "status" })));
    const placeLater = () => requestAnimationFrame(placeToasts);
    for (const event of ["scroll", "resize"]) addEventListener(event, placeLater, { passive: true });
    new MutationObserver(placeLater).observe($("main"), { subtree: true, childList: true, attributeFilter: ["hidden", "open"] });
  }
  const one = h("div", { class: "toast" }, text);
  toasts.append(one);
  placeToasts();
  setTimeout(() => {
    one.remove();
    placeToasts();
  }, 5000);
}
function placeToasts() {
  if (toasts.childElementCount === 0) return;
  const taken = [...document.querySelectorAll(PRESSED)].filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect());
  const room = { width: document.documentElement.clientWidth, height: innerHeight };
  for (const one of toasts.children) {
    const { width, height } = one.getBoundingClientRect();
    const { left, top } = freePlace({ width, height }, room, taken);
    one.style.left = `${left}px`;
    one.style.top = `${top}px`;
    taken.push({ left, top: top - 8, width, height: height + 16 });
  }
}

// ---- The frame: header with links and switches, footer.
const LINKS = [
  ["home", "/", "shared.home"],
  ["seats", "/#performances", "shared.seats"],
  ["council", "/council", "shared.council"],
  ["lab", "/lab", "shared.lab"],
  ["operator", "/operator", "shared.operator"],
  ["docs", "/docs", "shared.docs"],
];
const THEMES = ["auto", "light", "dark"];
let theme = localStorage.getItem("festa.theme") ?? "auto";
function showTheme(button) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  button.textContent = { auto: "◐", light: "☀", dark: "☾" }[theme];
  button.setAttribute("aria-label", t(`shared.theme.${theme}`));
  button.title = t(`shared.theme.${theme}`);
  document.dispatchEvent(new Event("themechange"));
}
export function frame(page) {
  document.documentElement.lang = language;
  const languageButton = h("button", { class: "button quiet small", type: "button", "data-test": "language",
    on: { click: () => setLanguage(language === "ko" ? "en" : "ko") } });
  const themeButton = h("button", { class: "button quiet small", type: "button", "data-test": "theme" });
  themeButton.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    localStorage.setItem("festa.theme", theme);
    showTheme(themeButton);
  });
  const label = () => {
    languageButton.textContent = language === "ko" ? "English" : "한국어";
    languageButton.lang = language === "ko" ? "en" : "ko";
    document.title = `${t(`title.${page}`)} · festabook`;
    showTheme(themeButton);
  };
  onLanguage(label);
  label();
  const icon = document.querySelector("link[rel=icon]").href;
  const header = h("header", { class: "top" }, h("div", { class: "top-row" },
    h("a", { class: "brand", href: "/" }, h("img", { src: icon, alt: "" }), "festabook"),
    h("nav", { class: "nav", "aria-label": "festabook" }, LINKS.map(([name, href, key]) =>
      h("a", { href, t: key, "aria-current": name === page ? "page" : undefined }))),
    h("div", { class: "switches" }, languageButton, themeButton)));
  document.body.prepend(h("a", { class: "skip", href: "#main", t: "shared.skip" }), header);
  document.body.append(h("footer", { class: "foot" }, h("p", { t: modes.has("demo") ? "shared.footDemo" : "shared.foot" })));
  for (const element of document.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
}

words({
  "shared.skip": ["본문으로 건너뛰기", "Skip to content"],
  "shared.home": ["처음", "Home"],
  "shared.seats": ["좌석", "Seats"],
  "shared.council": ["총학생회", "Council"],
  "shared.lab": ["실험실", "Lab"],
  "shared.operator": ["운영실", "Operator"],
  "shared.docs": ["API", "API"],
  "shared.login": ["로그인", "Log in"],
  "shared.logout": ["로그아웃", "Log out"],
  "shared.name": ["아이디", "Name"],
  "shared.password": ["비밀번호", "Password"],
  "shared.demoPerson": ["체험용 계정", "Demo account"],
  "shared.continueAs": ["이 계정으로 계속", "Continue"],
  "shared.unreachable": ["지금은 서비스에 연결할 수 없습니다. 잠시 후 다시 시도해 주세요.", "The service cannot be reached at the moment. Please try again shortly."],
  "shared.theme.auto": ["화면 색: 기기 설정", "Colours: as the device"],
  "shared.theme.light": ["화면 색: 밝게", "Colours: light"],
  "shared.theme.dark": ["화면 색: 어둡게", "Colours: dark"],
  "shared.foot": ["festabook이 직접 제공하는 화면입니다. 바깥으로 나가는 요청은 없습니다.", "Served by festabook itself. No request leaves this service."],
  "shared.footDemo": ["체험 모드: 계정과 비밀번호가 공개되어 있습니다. 바깥으로 나가는 요청은 없습니다.",
    "Demo mode: accounts and passwords are public. No request leaves this service."],
  "shared.ended": ["로그인이 만료되어 로그아웃되었습니다. 다시 로그인해 주세요.", "You have been logged out because your login has ended. Please log in again."],
  "shared.close": ["닫기", "Close"],
  "shared.cancel": ["취소", "Cancel"],
  "shared.loading": ["불러오는 중…", "Loading…"],
});
