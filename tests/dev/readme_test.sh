#!/usr/bin/env bash
# A newcomer's first minutes: ./dev run on another port and folder, the README's examples as pasted, SIGTERM.
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

# The block of the README that begins with BASE=, on this port. Twice: examples are pasted more than once.
awk '/^```sh/ { block = ""; inside = 1; next } /^```/ { if (block ~ /^BASE=/) printf "%s", block; block = ""; inside = 0 } inside { block = block $0 "\n" }' \
  README.md | sed "s/127.0.0.1:8080/127.0.0.1:$port/" >"$folder/examples.sh"
[ -s "$folder/examples.sh" ] || fail "the README has no examples"
for paste in 1 2; do
  # curl as the README uses it, but a status that is no success is told.
  cat >"$folder/run.sh" <<'SH'
curl() { command curl --noproxy '*' -m 20 -w '%{stderr}status %{http_code}\n' "$@" 2>>"$STATUSES"; }
SH
  cat "$folder/examples.sh" >>"$folder/run.sh"
  STATUSES=$folder/statuses-$paste bash "$folder/run.sh" >"$folder/answers" 2>&1 || fail "the examples: $(cat "$folder/answers")"
  # The council of the last example exists already the second time.
  bad=$(grep -hE '^status ([45]|000)' "$folder/statuses-$paste" | grep -v "$([ $paste = 2 ] && echo 'status 409' || echo none)" || true)
  [ -z "$bad" ] || fail "paste $paste: $bad: $(cat "$folder/statuses-$paste")"
done

service=$(pgrep -P $dev festabook)
kill -TERM $dev
wait $dev || fail "./dev run ended with $? after SIGTERM"
! kill -0 "$service" 2>/dev/null || fail "festabook is still running"
! pgrep -f "$folder" >/dev/null || fail "left over: $(pgrep -af "$folder")"
trap - EXIT
rm -rf "$folder"
echo "1 passed, 0 failed"
