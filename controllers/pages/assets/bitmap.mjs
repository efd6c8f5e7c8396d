// Which seats are sold: one bit per seat, seat n is bit (n-1) % 8 of byte (n-1) / 8, the lowest bit first. Pure.

export function decode(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

export const isSet = (bytes, n) => ((bytes[(n - 1) >> 3] >> ((n - 1) & 7)) & 1) === 1;

export function put(bytes, n, value) {
  const bit = 1 << ((n - 1) & 7);
  if (value) bytes[(n - 1) >> 3] |= bit;
  else bytes[(n - 1) >> 3] &= ~bit;
}

export function countSet(bytes) {
  let count = 0;
  for (let byte of bytes) for (; byte > 0; byte &= byte - 1) count += 1;
  return count;
}

// The picture of a hall that snapshots replace and changes alter.
export class Picture {
  #sections = new Map(); // location → {count, bits}

  get sections() {
    const byName = new Intl.Collator("ko", { numeric: true }); // S2 before S10
    return [...this.#sections].map(([location, { count }]) => ({ location, count })).sort((a, b) => byName.compare(a.location, b.location));
  }
  get total() {
    return [...this.#sections.values()].reduce((sum, { count }) => sum + count, 0);
  }
  get sold() {
    return [...this.#sections.values()].reduce((sum, { bits }) => sum + countSet(bits), 0);
  }
  has({ location, number }) {
    return number >= 1 && number <= (this.#sections.get(location)?.count ?? 0);
  }
  isSold({ location, number }) {
    return isSet(this.#sections.get(location).bits, number);
  }
  // Of one section, see above.
  bitsOf(location) {
    return this.#sections.get(location).bits;
  }
  replace({ sections }) {
    this.#sections = new Map(sections.map(({ location, count, sold }) => [location, { count, bits: decode(sold) }]));
  }
  // The seats that are different now, as {location, number, isSold}.
  change({ sold, free }) {
    const changed = [];
    for (const [list, isSold] of [[sold, true], [free, false]])
      for (const [location, number] of list) {
        if (!this.has({ location, number }) || this.isSold({ location, number }) === isSold) continue;
        put(this.#sections.get(location).bits, number, isSold);
        changed.push({ location, number, isSold });
      }
    return changed;
  }
}
