#!/usr/bin/env bash
# ./dev run tells when the service ends badly, also while it is being stopped, and leaves nothing behind.
# usage: run_test.sh <checkout> <port>
set -euo pipefail
cd "$1"
. tests/dev/pasted.sh
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

# What loadtest/README.md and docker/README.md show of a running lab, as pasted. k6 and Docker are stood in for: the first looks at its
# script and its tokens, the second runs commands of the container here.
cat >"$folder/stand_ins.sh" <<'SH'
k6() {
  local script=${!#} tokens
  tokens=$(printf '%s\n' "$@" | sed -n 's/^TOKENS=//p')
  [ "$1" = run ] && [ -f "$script" ] || { echo "k6 $*: there is no script"; return 1; }
  python3 -c 'import json, sys; sys.exit(0 if len(json.load(open(sys.argv[1]))["users"]) == 10000 else "not 10,000 users")' "$tokens"
  echo "k6 ran $script"
}
docker() {
  case " $* " in
    *" grafana/k6 "*) while [ "$1" != grafana/k6 ]; do shift; done; shift; k6 "$@" ;;
    *" exec "*) while [ "$1" != exec ]; do shift; done; shift 4; ./dev "$@" ;;  # exec -T festabook1 festabook
    *) k6 run -e "TOKENS=$DOCKER_TOKENS" "loadtest/$K6_SCRIPT" ;;
  esac
}
SH
# paste_in_lab <document> <beginning> <how often k6 runs>
paste_in_lab() {
  pasted "$1" sh "$2" | grep -v '^./dev run --lab' |
    sed "s|docker/tokens.json|$folder/docker.json|; s|tokens.json|$folder/tokens.json|" >"$folder/pasted.sh" || fail "$1 has no $2"
  DOCKER_TOKENS=$folder/docker.json bash -euo pipefail -c '. "$1"; . "$2"' bash "$folder/stand_ins.sh" "$folder/pasted.sh" \
    >"$folder/said" 2>&1 || fail "$1 as pasted: $(cat "$folder/said")"
  [ "$(grep -c '^k6 ran' "$folder/said")" -eq "$3" ] || fail "$1 as pasted: $(cat "$folder/said")"
}
paste_in_lab loadtest/README.md './dev run --lab' 2
paste_in_lab docker/README.md LAB= 1
kill -TERM $dev
ended 0

trap - EXIT
rm -rf "$folder"
echo "7 passed, 0 failed"
