#!/usr/bin/env bash
# ./dev run tells when the service ends badly, also while it is being stopped, and leaves nothing behind.
# usage: run_test.sh <checkout> <port>
set -euo pipefail
cd "$1"
port=$2
folder=$(mktemp -d)
export FESTA_PORT=$port FESTA_RUN_DIR=$folder
chmod 755 "$folder"

fail() { echo "FAILED: $*" >&2; cat "$folder/out" >&2; exit 1; }

# await <seconds> <command…>: until it succeeds.
await() {
  local deadline=$(($(date +%s) + $1))
  shift
  until "$@"; do
    [ "$(date +%s)" -lt "$deadline" ] || return 1
    sleep 0.1
  done
}

# begin <option…>: ./dev run, as $dev, until it is ready.
begin() {
  : >"$folder/out"  # not by the background process, which may be later than the look for "ready"
  ./dev run "$@" >>"$folder/out" 2>&1 &
  dev=$!
  await 120 grep -q "^ready" "$folder/out" || fail "it did not become ready"
}

# start: the same, and its $service.
start() {
  begin
  service=$(pgrep -P $dev festabook)
}

# ended <status>: ./dev run has ended with this status, and with it everything that it had started.
ended() {
  local status=0
  wait $dev || status=$?
  [ $status -eq "$1" ] || fail "./dev run ended with $status instead of $1"
  ! pgrep -f "$folder" >/dev/null || fail "left over: $(pgrep -af "$folder")"
}

trap 'kill -TERM $dev 2>/dev/null; wait $dev 2>/dev/null; rm -rf "$folder"' EXIT

start
kill -TERM $dev
ended 0

# It stands still until ./dev stops it, and then it dies of another signal.
start
kill -STOP "$service"
kill -TERM $dev
await 20 grep -q "^stopping" "$folder/out" || fail "it does not stop"
kill -ABRT "$service"
kill -CONT "$service"
ended 1
grep -q "festabook ended with 134" "$folder/out" || fail "it does not tell"

start
kill -ABRT "$service"
ended 1
grep -q "festabook ended with 134" "$folder/out" || fail "it does not tell"

# Killed, it cannot stop anything, and still leaves nothing behind; the next start is as the first.
start
kill -KILL $dev
wait $dev || true
nothing_left() { ! pgrep -f "$folder" >/dev/null && ! kill -0 "$service" 2>/dev/null; }
await 20 nothing_left || fail "left over: $(pgrep -af "$folder")"
start
kill -TERM $dev
ended 0

# Three instances behind HAProxy: each answers, and all end.
begin --lab --instances 3
ask() { curl -fsS --noproxy '*' "http://127.0.0.1:$port$1" "${@:2}"; }
token=$(ask /councils/login -H 'Content-Type: application/json' -d '{"username":"admin","password":"admin-demo-1"}' |
  sed -E 's/.*"accessToken":"([^"]+)".*/\1/')
names=$(for try in {1..9}; do ask /admin/overview -H "Authorization: Bearer $token" | sed -E 's/^\{"instance":"([^"]+)".*/\1/'; echo; done | sort -u | grep -c :)
[ "$names" -eq 3 ] || fail "$names instances answered"
ask /lab/races >/dev/null || fail "there is no lab"
kill -TERM $dev
ended 0

trap - EXIT
rm -rf "$folder"
echo "5 passed, 0 failed"
