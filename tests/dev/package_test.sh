#!/usr/bin/env bash
# What others do with lock/: install it, find it, paste what docs/lock.md and examples/tickets/README.md show, and build that example
# outside this tree on both of its storages. Besides: FetchContent, pkg-config, and a Drogon without our patches.
# usage: package_test.sh <checkout> <build folder>
set -euo pipefail
checkout=$1
build=$2
folder=$(mktemp -d)
chmod 755 "$folder"
service=
stop_servers() { :; }
trap '[ -z "$service" ] || kill -TERM $service 2>/dev/null; stop_servers; rm -rf "$folder"' EXIT
drogon=$(readlink -f "$build/drogon")
prefix=$folder/prefix
export CCACHE_BASEDIR=$folder CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
export FESTA_RUN_DIR=$folder/run
passed=0
. "$checkout/tests/dev/pasted.sh"

fail() { echo "FAILED: $*" >&2; tail -n 30 "$folder"/*.log >&2 2>/dev/null; exit 1; }
ok() { passed=$((passed + 1)); echo "ok: $*"; }

# cmake_in <log> <arguments…>
cmake_in() {
  local log=$folder/$1.log
  shift
  cmake "$@" >>"$log" 2>&1 || fail "cmake $*"
}

# configure <folder> <prefix path> [options…]: into <folder>/build.
configure() {
  local source=$1 path=$2
  shift 2
  cmake_in "$(basename "$source")" -S "$source" -B "$source/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "-DCMAKE_PREFIX_PATH=$path" "$@"
}

# build_example <name> <header of the storage> <expression that makes it>
build_example() {
  cp -r "$checkout/examples/tickets" "$folder/$1"
  sed -i -E "s/inMemory\(epoch\);.*/$3;/; s/^#include \"in_memory.h\"/#include \"$2\"/" "$folder/$1/main.cc"
  grep -qF "= $3;" "$folder/$1/main.cc" || fail "the example has no line that chooses its storage"
  grep -qF "#include \"$2\"" "$folder/$1/main.cc" || fail "the example does not include its storage"
  configure "$folder/$1" "$prefix;$drogon"
  cmake_in "$1" --build "$folder/$1/build"
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# A PostgreSQL with the database tickets and a Redis: sets PGPORT, PGPASSWORD and REDIS_PORT.
start_servers() {
  . "$checkout/scripts/lib.sh"
  . "$checkout/scripts/servers.sh"
  start_server postgres postgres --database tickets
  PGPORT=$SERVER_PORT PGPASSWORD=$(cat "$RUN_DIR/postgres.password")
  start_server redis redis
  REDIS_PORT=$SERVER_PORT
}

post() { curl -s --noproxy '*' -m 20 -w ' %{http_code}' -X POST "http://127.0.0.1:$PORT/shows/1/tickets?think_ms=$1" | tr -d '\n'; }
sold() { psql -X -At -c 'SELECT sold FROM shows WHERE id = 1'; }

# try_example <name>: two at once are served one after the other; a holder that slept past its lease writes nothing.
try_example() {
  PORT=$(free_port)
  export PORT
  "$folder/$1/build/tickets" >"$folder/$1-service.log" 2>&1 &
  service=$!
  until curl -s --noproxy '*' -m 5 -o /dev/null "http://127.0.0.1:$PORT/"; do
    kill -0 "$service" 2>/dev/null || fail "the example did not start"
    sleep 0.1
  done
  local before first second
  before=$(sold)
  post 300 >"$folder/first" &
  first=$!
  post 300 >"$folder/second"
  wait "$first"
  [ "$(sort "$folder/first" <(echo) "$folder/second" | grep . | sort | tr '\n' ',')" = \
    "ticket $((before + 1)) 200,ticket $((before + 2)) 200," ] || fail "$1: two at once: $(cat "$folder/first" "$folder/second")"
  ok "$1: two requests at once were served one after the other"

  # It holds for two seconds and thinks for six; one of those who come meanwhile is served after its lease.
  post 6000 >"$folder/slow" &
  local slow=$! answers=0
  while kill -0 "$slow" 2>/dev/null; do
    second=$(post 0)
    answers=$((answers + 1))
    [ "$second" = "ticket $((before + 2 + answers)) 200" ] || fail "$1: beside the slow one: $second"
  done
  wait "$slow"
  [ "$(cat "$folder/slow")" = "overtaken 409" ] || fail "$1: a stale fence was not refused: $(cat "$folder/slow")"
  [ "$(sold)" = $((before + 2 + answers)) ] || fail "$1: $(sold) sold, $((before + 2 + answers)) expected"
  ok "$1: a stale fence was refused"
  kill -TERM "$service"
  wait "$service" || fail "$1: the example ended with $?"
  service=
}

# here <document> <language> <beginning>: what is pasted, with folders, ports and database of this test.
here() {
  pasted "$checkout/$1" "$2" "$3" |
    sed "s|\$HOME/festa|$prefix|; s|8090|${PORT:-8090}|; s|/tmp/tickets|$folder/pasted|g; s|PGPORT=5432|PGPORT=${PGPORT:-5432}|
      s|PGUSER=tickets|PGUSER=festabook|; s|PGPASSWORD=secret|PGPASSWORD=${PGPASSWORD:-}|"
}

(cd "$checkout" && env -u FESTA_RUN_DIR bash -euc "$(here docs/lock.md sh './dev lock')") >"$folder/install.log" 2>&1 || fail "./dev lock"
[ ! -e "$prefix/include/lock" ] || fail "include/lock may be another library's"
[ -z "$(find "$prefix/include" -name '*.h' ! -path '*/festa/lock/*')" ] || fail "more than lock/ was installed"
build_example memory in_memory.h 'inMemory(epoch)'
build_example redis on_redis.h 'onRedis(database)'
ok "the example builds on the installed package"

start_servers

# The commands of the example's own README, on a database without the table.
PORT=$(free_port)
(cd "$checkout" && env -u FESTA_RUN_DIR CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_GENERATOR=Ninja no_proxy='*' \
  bash -euc "$(here examples/tickets/README.md sh './dev lock')") >"$folder/example.log" 2>&1 || fail "examples/tickets/README.md as pasted"
said=$(grep -E '^(ticket [0-9]+|overtaken)$' "$folder/example.log" | tr '\n' ',')
[ "$said" = "ticket 1,ticket 2,overtaken," ] || fail "examples/tickets/README.md as pasted said '$said'"
ok "examples/tickets/README.md as pasted"

export PGHOST=127.0.0.1 PGPORT PGDATABASE=tickets PGUSER=festabook PGPASSWORD REDIS_PORT
try_example memory
try_example redis

# paste_counter <folder>: the program of docs/lock.md.
paste_counter() {
  mkdir "$1"
  here docs/lock.md cmake cmake_minimum_required >"$1/CMakeLists.txt"
  here docs/lock.md cpp '#include' >"$1/main.cc"
}

# try_counter <folder>: built and called as docs/lock.md says.
try_counter() {
  local counted
  PORT=$(free_port)
  (cd "$1" && CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_GENERATOR=Ninja no_proxy='*' bash -euc "$(here docs/lock.md sh 'cmake -B build')") \
    >"$1.log" 2>&1 || fail "docs/lock.md as pasted into $1"
  counted=$(grep -E '^[0-9]+$' "$1.log" | tr '\n' ' ')
  [ "$counted" = "1 2 3 " ] || fail "docs/lock.md as pasted into $1 counted '$counted'"
}

# docs/lock.md alone, in an empty folder.
paste_counter "$folder/counter"
try_counter "$folder/counter"
ok "docs/lock.md as pasted"
paste_counter "$folder/redis_counter"
here docs/lock.md cpp '#pragma once' >"$folder/redis_counter/redis.h"
sed -i "1i #include \"redis.h\"
  s/^  static const Host host(.*/  static const Host host(onRedis($REDIS_PORT));/; /const auto memory = /d" "$folder/redis_counter/main.cc"
grep -qF "host(onRedis($REDIS_PORT))" "$folder/redis_counter/main.cc" || fail "docs/lock.md has no line that chooses its storage"
try_counter "$folder/redis_counter"
ok "docs/lock.md as pasted, on Redis"

# Link what was compiled with what pkg-config says.
flags=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs festa_lock)
# shellcheck disable=SC2086
c++ -std=c++20 -o "$folder/by_pkg_config" "$folder/memory/build/CMakeFiles/tickets.dir/main.cc.o" $flags || fail "pkg-config: $flags"
for flag in $flags; do
  case $flag in -I*) [ -d "${flag#-I}" ] || fail "pkg-config names $flag" ;; esac
done
[ "$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --modversion festa_lock)" = 2.0.0 ] || fail "pkg-config's version"
ok "pkg-config"

# Taken in by FetchContent: festa::lock, and no other target of ours.
cp -r "$checkout/examples/tickets" "$folder/fetched"
sed -i 's|^find_package(festa_lock.*|include(FetchContent)\nFetchContent_Declare(festabook SOURCE_DIR $ENV{CHECKOUT})\nFetchContent_MakeAvailable(festabook)|' \
  "$folder/fetched/CMakeLists.txt"
CHECKOUT=$checkout configure "$folder/fetched" "$drogon"
! ninja -C "$folder/fetched/build" -t targets all | grep -E '^(festabook|unit|.*festa_(services|http|app|queue))' || fail "FetchContent builds more"
ninja -C "$folder/fetched/build" CMakeFiles/tickets.dir/main.cc.o >"$folder/fetched.log" 2>&1 || fail "FetchContent"
! ninja -C "$folder/fetched/build" -t commands CMakeFiles/tickets.dir/main.cc.o | grep 'tickets.dir/main.cc' | grep -qE -- "(-I|-isystem) ?$checkout " ||
  fail "the whole checkout is included"
ok "FetchContent"

# A Drogon as released: the same one, and what tells the patched one is not to be seen.
standin=$folder/drogon
mkdir -p "$standin/lib"
ln -s "$drogon/include" "$standin/include"
cp -r "$drogon/lib/cmake" "$standin/lib/"
cp "$drogon"/lib/*.a "$standin/lib/"
symbol=$(nm "$drogon/lib/libdrogon.a" 2>/dev/null | grep -oE '_ZN[^ ]*RedisConnection16disconnectInLoop[^ ]*' | sort -u)
objcopy --redefine-sym "$symbol=released" "$standin/lib/libdrogon.a"
mkdir "$folder/sources"
cp -r "$checkout"/{CMakeLists.txt,CMakePresets.json,cmake,lock} "$folder/sources"
(cd "$folder/sources" && CMAKE_CXX_COMPILER_LAUNCHER=ccache bash -euc "$(pasted "$checkout/docs/lock.md" sh 'cmake --preset lock' |
  sed "s|\$HOME/drogon|$standin|; s|\$HOME/festa|$folder/released-prefix|")") >"$folder/released.log" 2>&1 || fail "the presets of docs/lock.md"
grep -q "without Redis storages" "$folder/released.log" || fail "the missing patches were not noticed"
[ ! -e "$folder/released-prefix/include/festa/lock/redis" ] || fail "headers without their library"
cp -r "$checkout/examples/tickets" "$folder/plain"
configure "$folder/plain" "$folder/released-prefix;$standin"
ninja -C "$folder/plain/build" CMakeFiles/tickets.dir/main.cc.o >"$folder/plain.log" 2>&1 || fail "the example needs Redis even in memory"
mkdir "$folder/finds"
cat >"$folder/finds/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(finds LANGUAGES C CXX)
find_package(festa_lock REQUIRED COMPONENTS ${WANTED})
CMAKE
configure "$folder/finds" "$folder/released-prefix;$standin"
if cmake -S "$folder/finds" -B "$folder/finds/build" -DWANTED=redis >"$folder/wanted.log" 2>&1; then fail "found redis, which is not there"; fi
tr -s ' \n' ' ' <"$folder/wanted.log" | grep -q "without our Redis patches" || fail "it does not say why"
rm -rf "$folder/finds/build"
configure "$folder/finds" "$prefix;$drogon" -DWANTED=redis
ok "on a Drogon without our patches the Redis storages are left out"
echo "$passed passed, 0 failed"
