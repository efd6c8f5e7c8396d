#!/usr/bin/env bash
# scripts/server.sh: what it prints, what it keeps over restarts, and that nothing outlives its caller.
# usage: server_test.sh <checkout>
set -euo pipefail
cd "$1"
folder=$(mktemp -d)
chmod 755 "$folder"
passed=0
pid=

fail() { echo "FAILED: $*" >&2; tail -n 20 "$folder"/*.log >&2; exit 1; }
ok() { passed=$((passed + 1)); }

# await <seconds> <command…>: until it succeeds.
await() {
  local deadline=$(($(date +%s) + $1))
  shift
  until "$@"; do
    [ "$(date +%s)" -lt "$deadline" ] || return 1
    sleep 0.05
  done
}

# begin <kind> [options…]: sets pid, line, port, stop.
begin() {
  local kind=$1
  shift
  rm -f "$folder/pipe"
  mkfifo "$folder/pipe"
  scripts/server.sh "$kind" "$folder/$kind" "$@" >"$folder/pipe" &
  pid=$!
  read -r line <"$folder/pipe" || fail "$kind said nothing"
  port=$(word port) stop=$(word stop)
}
word() { sed -n "s/.* $1=\([^ ]*\).*/\1/p" <<<"$line"; }

# finish: by the signal that the line named.
finish() {
  kill -s "$stop" "$pid"
  wait "$pid" || fail "$line: ended with $? after $stop"
}
gone() { [ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }
query() { PGPASSWORD=$(cat "$folder/postgres.password") psql -X -At -h 127.0.0.1 -p "$port" -U postgres -d "$1" -c "$2"; }

trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true; rm -rf "$folder"' EXIT

# A server has the script's process id, and the line has the settings for festabook.
begin redis
[ "$line" = "ready pid=$pid port=$port stop=TERM FESTA_REDIS_HOST=127.0.0.1 FESTA_REDIS_PORT=$port" ] || fail "$line"
[ "$(cat /proc/$pid/comm)" = redis-server ] || fail "$pid is $(cat /proc/$pid/comm)"
[ "$(redis-cli -p "$port" config get save | tail -n 1)" = '' ] || fail "it writes to its disk"
[ ! -e /proc/$pid/fd/9 ] || fail "it has the script's output"
# A port in use is refused.
[ "$(scripts/server.sh redis "$folder/redis" --port "$port")" = "failed port $port is in use" ] || fail "it took a port in use"
finish
ok

# Again on the same port, as a node that votes, with an argument and a variable of its own.
begin redis --port "$port" --may-vote root --env LD_PRELOAD=no-such-library.so -- --maxmemory-policy allkeys-lru
[ "$line" = "ready pid=$pid port=$port stop=TERM" ] || fail "$line"
[ "$(redis-cli -p "$port" get root:redlock:ready)" = 1 ] || fail "it may not vote"
[ "$(redis-cli -p "$port" config get maxmemory-policy | tail -n 1)" = allkeys-lru ] || fail "it did not take the argument"
[ "$(grep -c no-such-library.so "$folder/redis.log")" = 1 ] || fail "it did not take the variable"
finish
ok

# What cannot start says why.
begin redis -- --no-such-argument 1
[ "$line" = "failed redis has ended; its log: $folder/redis.log" ] || fail "$line"
begin nonsense
[ "$line" = "failed there is no server 'nonsense'" ] || fail "$line"
begin redis --nonsense
[ "$line" = "failed unknown option '--nonsense' of a Redis" ] || fail "$line"
ok

# A cluster, its password and its database stay; settings are per start.
begin postgres --database one
password=$(word FESTA_DATABASE_PASSWORD)
[ -n "$password" ] && [ "$(stat -c %a "$folder/postgres.password")" = 600 ] || fail "$line"
query one 'CREATE TABLE kept ()'
! PGPASSWORD=wrong psql -X -h 127.0.0.1 -p "$port" -U postgres -c 'SELECT 1' 2>/dev/null || fail "it takes any password"
[ "$(PGPASSWORD=$password psql -X -At -h 127.0.0.1 -p "$port" -U festabook -d one -c 'SELECT 1')" = 1 ] || fail "no festabook"
finish
begin postgres --port "$port" --database two --set fsync=off
[ "$(word FESTA_DATABASE_PASSWORD)" = "$password" ] || fail "$line"
[ "$(query one "SELECT count(*) FROM pg_tables WHERE tablename = 'kept'")" = 1 ] || fail "the table is gone"
[ "$(query two 'SHOW fsync')" = off ] || fail "the setting is not taken"
# It is not removed while it is used.
[[ $(scripts/server.sh postgres "$folder/postgres" --remove) == "failed process $pid uses "* ]] || fail "removed"
finish
begin postgres --fresh --trust
[ "$(PGPASSWORD=wrong psql -X -At -h 127.0.0.1 -p "$port" -U postgres -c 'SELECT count(*) FROM pg_database')" = 3 ] || fail "not fresh"
finish
[ "$(scripts/server.sh postgres "$folder/postgres" --remove)" = removed ] || fail "not removed"
[ ! -e "$folder/postgres" ] && [ ! -e "$folder/postgres.password" ] || fail "not removed"
ok

# Where the user postgres cannot go, the cluster is elsewhere; not in what another user has put there.
if [ "$(id -u)" -eq 0 ]; then
  hidden=$folder/hidden
  mkdir -m 700 "$hidden"
  elsewhere=/var/tmp/festabook-$(printf '%s' "$hidden/postgres" | sha256sum | cut -c1-12)
  ln -s "$folder" "$elsewhere"
  [ "$(scripts/server.sh postgres "$hidden/postgres")" = "failed $elsewhere is no folder" ] || fail "it took a link"
  rm "$elsewhere"
  mkdir "$elsewhere"
  chown nobody "$elsewhere"
  [ "$(scripts/server.sh postgres "$hidden/postgres")" = "failed $elsewhere is not a folder of postgres" ] || fail "it took nobody's"
  rmdir "$elsewhere"
  [ "$(scripts/server.sh postgres "$hidden/postgres" --remove)" = removed ] && [ ! -e "$elsewhere" ] || fail "not removed"
  ok
fi

# All ports of a server are different, also when the first that it looks at is in use.
cat >"$folder/occupy.py" <<'PY'
import os, socket, sys
taken = socket.socket()
try:
    taken.bind(("127.0.0.1", 20000 + os.getpid() % 10000))
except OSError:
    sys.exit(print("in use"))
taken.listen()
taken.set_inheritable(True)
os.execv(sys.argv[1], sys.argv[1:])
PY
# Where another program has that port, the next process has another one.
for _ in 1 2 3 4 5; do
  python3 "$folder/occupy.py" scripts/server.sh haproxy "$folder/haproxy" >"$folder/haproxy.line" &
  pid=$!
  await 20 grep -q . "$folder/haproxy.line" || fail "HAProxy said nothing"
  line=$(cat "$folder/haproxy.line")
  [ "$line" = 'in use' ] || break
  wait "$pid"
done
[[ $line == ready* ]] || fail "HAProxy did not start: $line"
[ "$(word port)" != "$(word operations)" ] && [ "$(word port)" != $((20000 + pid % 10000)) ] || fail "$line"
kill -TERM "$pid"
wait "$pid" || true
[[ $(scripts/server.sh haproxy "$folder/haproxy" --change 'no such text' x) == "failed not once in "*": no such text" ]] ||
  fail "it changes what is not there"
[[ $(scripts/server.sh haproxy "$folder/haproxy" --instance 1 --instance 2 --instance 3 --instance 4) == "failed too few"* ]] ||
  fail "it takes too many instances"
ok

# When the caller is killed, its servers end: epmd, too.
cat >"$folder/caller.sh" <<'SH'
for kind in redis postgres rabbitmq; do
  scripts/server.sh "$kind" "$1/$kind" >"$1/$kind.line" &
done
wait
SH
bash "$folder/caller.sh" "$folder" &
caller=$!
servers=()
for kind in redis postgres rabbitmq; do
  await 60 grep -q '^ready' "$folder/$kind.line" || fail "$kind did not start"
  line=$(cat "$folder/$kind.line")
  servers+=("$(word pid)")
done
mapfile -t epmd < <(pgrep -P "${servers[2]}" epmd)
[ ${#epmd[@]} -eq 1 ] || fail "no epmd"
kill -KILL "$caller"
for one in "${servers[@]}" "${epmd[@]}"; do
  await 20 gone "$one" || fail "$one is left: $(ps -o args= -p "$one")"
done
ok

trap - EXIT
rm -rf "$folder"
echo "$passed passed, 0 failed"
