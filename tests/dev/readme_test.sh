#!/usr/bin/env bash
# A newcomer's first minutes: ./dev run on another port and folder, the examples of the README and of docs/api.md as pasted, SIGTERM.
# Besides: what docker/README.md shows of a database, with the programs of this machine instead of those in the container.
# usage: readme_test.sh <checkout> <port>
set -euo pipefail
cd "$1"
. tests/dev/pasted.sh
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

# Twice: examples are pasted more than once.
passed=0
for document in README.md README.ko.md docs/api.md; do
  for paste in 1 2; do
    # curl as the document uses it, but a status that is no success is told.
    cat >"$folder/run.sh" <<'SH'
curl() { command curl --noproxy '*' -m 20 -w '%{stderr}status %{http_code}\n' "$@" 2>>"$STATUSES"; }
SH
    pasted "$document" sh BASE= | sed "s/127.0.0.1:8080/127.0.0.1:$port/" >>"$folder/run.sh" || fail "$document has no examples"
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

# login <name> <password>: the status of a council's login.
login() {
  curl -s --noproxy '*' -m 20 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/councils/login" -H 'Content-Type: application/json' \
    -d "{\"username\":\"$1\",\"password\":\"$2\"}"
}

# paste_for_containers <beginning>: a block of docker/README.md, whose commands in the container run here.
paste_for_containers() {
  cat >"$folder/run.sh" <<'SH'
docker() {
  while [ "${1:-exec}" != exec ]; do shift; done
  shift 3  # exec -T postgres
  PGHOST=127.0.0.1 "$@"
}
SH
  # The demo has an admin, and this test a folder of its own.
  pasted docker/README.md sh "$1" | sed "s/'admin'/'first-admin'/; s|festabook.dump|$folder/festabook.dump|" >>"$folder/run.sh" ||
    fail "docker/README.md has no block that begins with $1"
  env "PGPORT=$(tr '\0' '\n' <"/proc/$service/environ" | sed -n 's/^FESTA_DATABASE_PORT=//p')" \
    "PGPASSWORD=$(cat "$folder/postgres.password")" PGOPTIONS='-c client_min_messages=warning' PASSWORD=first-password-1 \
    bash -euo pipefail "$folder/run.sh" >"$folder/answers" 2>&1 || fail "docker/README.md, $1: $(cat "$folder/answers")"
}

[ "$(login first-admin first-password-1)" = 401 ] || fail "there is a first admin before it is made"
paste_for_containers HASH=
[ "$(login first-admin first-password-1)" = 201 ] || fail "the first admin of docker/README.md cannot log in"
paste_for_containers 'docker compose -f docker/docker-compose.yml exec -T postgres pg_dump'
[ "$(login first-admin first-password-1)" = 201 ] || fail "the first admin is not in the restored database"
passed=$((passed + 2))

kill -TERM $dev
wait $dev || fail "./dev run ended with $? after SIGTERM"
! kill -0 "$service" 2>/dev/null || fail "festabook is still running"
! pgrep -f "$folder" >/dev/null || fail "left over: $(pgrep -af "$folder")"
trap - EXIT
rm -rf "$folder"
echo "$passed passed, 0 failed"
