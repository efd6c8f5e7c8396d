// One Idempotency-Key for each thing that a person wants done, kept until an answer says how it ended. Pure.

const MOST = 50; // the oldest are forgotten
const NAME = "festa.intentions";

// Whether this refusal says that the wish was not carried out and never will be. After the others an earlier attempt may have been
// carried out, or still may be: no answer at all, a failure of the service, a token that ended, a refusal to look at it now.
export function isFinal({ status, code }) {
  return status >= 400 && status < 500 && ![401, 408, 429].includes(status) && !["REQUEST_IN_PROGRESS", "SEAT_BUSY"].includes(code);
}

// storage: getItem and setItem, as of sessionStorage: a page that is loaded again finds its keys.
export class Intentions {
  #storage;
  #newKey;
  #now;

  constructor(storage, newKey, now = Date.now) {
    this.#storage = storage;
    this.#newKey = newKey;
    this.#now = now;
  }
  // The key of this wish, the same until settle(). A wish is who wants it, method, path and body: another text is another wish.
  // After `lifetime` ms the same wish gets a new key: somebody may want the same again without having seen how the first one ended.
  keyOf(wish, lifetime = Infinity) {
    const name = JSON.stringify(wish);
    const open = this.#read();
    const known = open.find(([one, , madeAt]) => one === name && !(this.#now() - madeAt >= lifetime)); // an older version of the page kept no time
    if (known) return known[1];
    const key = this.#newKey();
    this.#write([...open.filter(([one]) => one !== name), [name, key, this.#now()]].slice(-MOST));
    return key;
  }
  settle(wish) {
    const name = JSON.stringify(wish);
    this.settleAll((one) => JSON.stringify(one) === name);
  }
  // Those for which isDone(wish): it can be seen that they were carried out.
  settleAll(isDone) {
    const open = this.#read();
    const left = open.filter(([name]) => !isDone(JSON.parse(name)));
    if (left.length < open.length) this.#write(left);
  }
  #read() {
    try {
      return JSON.parse(this.#storage.getItem(NAME) ?? "[]");
    } catch {
      return [];
    }
  }
  #write(open) {
    this.#storage.setItem(NAME, JSON.stringify(open));
  }
}
