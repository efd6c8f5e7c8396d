#!/usr/bin/env bash
# A newcomer's first minutes: ./dev run on another port and folder, the examples of the README and of docs/api.md as pasted, SIGTERM.
# usage: readme_test.sh <checkout> <port>
set -euo pipefail
cd "$1"
port=$2
folder=$(mktemp -d)
export FESTA_PORT=$port FESTA_RUN_DIR=$folder
chmod 755 "$folder"

fail() { echo "FAILED: $*" >&2; cat "$folder/out" >&2; exit 1; }

./dev run >"$folder/out" 2>&1 &
dev=$!
trap 'kill -TERM $dev 2>/dev/null; wait $dev 2>/dev/null; rm -rf "$folder"' EXIT
for _ in $(seq 600); do
  grep -q "^ready http://127.0.0.1:$port$" "$folder/out" && break
  kill -0 $dev 2>/dev/null || fail "./dev run ended"
  sleep 0.2
done
grep -q "^ready" "$folder/out" || fail "it did not become ready"

# pasted <document>: its blocks that begin with BASE=, on this port.
pasted() {
  awk '/^```sh/ { block = ""; inside = 1; next } /^```/ { if (block ~ /^BASE=/) printf "%s", block; block = ""; inside = 0 } inside { block = block $0 "\n" }' \
    "$1" | sed "s/127.0.0.1:8080/127.0.0.1:$port/" | grep .
}

# Twice: examples are pasted more than once.
passed=0
for document in README.md README.ko.md docs/api.md; do
  for paste in 1 2; do
    # curl as the document uses it, but a status that is no success is told.
    cat >"$folder/run.sh" <<'SH'
curl() { command curl --noproxy '*' -m 20 -w '%{stderr}status %{http_code}\n' "$@" 2>>"$STATUSES"; }
SH
    pasted "$document" >>"$folder/run.sh" || fail "$document has no examples"
    rm -f "$folder/statuses"
    STATUSES=$folder/statuses bash "$folder/run.sh" >"$folder/answers" 2>&1 || fail "$document: $(cat "$folder/answers")"
    [ "$(grep -c '^status 2' "$folder/statuses")" -ge 4 ] || fail "$document: $(cat "$folder/statuses" "$folder/answers")"
    # A coupon is had, a council is there already the second time.
    bad=$(grep -hE '^status ([45]|000)' "$folder/statuses" | grep -v "$([ $paste = 2 ] && echo 'status 409' || echo none)" || true)
    [ -z "$bad" ] || fail "$document, paste $paste: $bad: $(cat "$folder/statuses" "$folder/answers")"
    passed=$((passed + 1))
  done
done

service=$(pgrep -P $dev festabook)
kill -TERM $dev
wait $dev || fail "./dev run ended with $? after SIGTERM"
! kill -0 "$service" 2>/dev/null || fail "festabook is still running"
! pgrep -f "$folder" >/dev/null || fail "left over: $(pgrep -af "$folder")"
trap - EXIT
rm -rf "$folder"
echo "$passed passed, 0 failed"
