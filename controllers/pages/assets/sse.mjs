// Server-sent events as text becomes events. Pure.

// eventReader(onEvent, onId).read(text): calls onEvent({event, data, id}) for each whole event, however the text was cut into parts, and
// onId(id) for each id, that of an event without data as well: it says from where to go on, and there is nothing to tell. Comments are
// skipped.
export function eventReader(onEvent, onId = () => {}) {
  let rest = "";
  let event = fresh();
  function fresh() {
    return { event: "message", data: [], id: undefined };
  }
  function line(text) {
    if (text === "") {
      if (event.id !== undefined) onId(event.id);
      if (event.data.length > 0) onEvent({ event: event.event, data: event.data.join("\n"), id: event.id });
      event = fresh();
      return;
    }
    const colon = text.indexOf(":");
    if (colon === 0) return;
    const name = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(colon + 1).replace(/^ /, "");
    if (name === "event") event.event = value;
    if (name === "data") event.data.push(value);
    if (name === "id") event.id = value;
  }
  return {
    read(text) {
      const lines = (rest + text).split(/\r\n|\n/);
      rest = lines.pop();
      lines.forEach(line);
    },
  };
}

// How long to wait before the attempt-th new connection, in ms; `random` is in [0, 1).
export function pauseBefore(attempt, random) {
  const longest = Math.min(10_000, 500 * 2 ** attempt);
  return longest / 2 + (longest / 2) * random;
}
