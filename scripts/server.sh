#!/usr/bin/env bash
# server.sh KIND FOLDER [OPTION…] [-- ARGUMENT…]: becomes a private server on 127.0.0.1. KIND is postgres, redis, rabbitmq, haproxy or
# festabook. The one way in which ./dev run, the tests, the benchmark and the load test start servers.
#
# The server has this script's process id, so the caller is its parent: it sends signals, waits for the end, and starts the server
# again with the same folder and port. A server does not outlive its caller, whatever ends that one.
#
# When the server answers, or will not, one line goes to standard output:
#   ready pid=123 port=20123 stop=INT FESTA_DATABASE_PORT=20123 …
#   failed WHY
# `stop` is the signal that ends the server in order. Words that begin with FESTA_ are the settings by which festabook finds it.
#
# Options of all kinds:
#   --port N          default: one that is free
#   --log FILE        what the server prints is added there; default: FOLDER.log
#   --fresh           forget what an earlier server left in the folder
#   --env NAME=VALUE  in the server's environment; not in this script's, unlike what the caller exports
#   -- ARGUMENT…      for the server's own command line
# The others are told in server/KIND.sh.
set -euo pipefail
HERE=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
kind=$1 folder=$2
shift 2

stop=TERM      # the signal that ends it in order
orphaned=KILL  # the signal that it gets when the caller has ended
patience=60    # seconds
port= log=$folder.log fresh= environment=() arguments=()
words=()    # more for the line
command=()  # becomes the server
as=()       # options of setpriv(1)

exec 9>&1 </dev/null

fail() {
  trap - EXIT
  printf 'failed %s\n' "$*" >&9
  exit 1
}

# A kind's file replaces these.
option() { fail "unknown option '$1'"; }  # its own options; sets `taken`, how many words they were
prepare() { :; }                          # what has to be there before the start; sets `command`
answers() { :; }
settle() { :; }  # what has to be done when it answers

# free_port: sets `free` to one of 20000 to 29999, where no outgoing connection takes it meanwhile; another one each time.
# Servers that start at the same time have different process ids, and so begin to look at different places.
tried=0
free_port() {
  for ((; tried < 200; ++tried)); do
    free=$((20000 + ($$ + 3331 * tried) % 10000))
    [ "$free" = "$port" ] || listens "$free" || { tried=$((tried + 1)); return 0; }
  done
  fail "no free port between 20000 and 29999 on 127.0.0.1"
}

listens() {
  { :; } 2>/dev/null 3<>"/dev/tcp/127.0.0.1/$1"
} 2>/dev/null

# talk REQUEST PORT: sets `answer`, all of it until the server closes the connection or sends a zero byte.
talk() {
  answer=
  { printf "$1" >&3 && IFS= read -r -d '' -t 2 -u 3 answer || [ -n "$answer" ]; } 3<>"/dev/tcp/127.0.0.1/$2"
} 2>/dev/null

# This process, or the server that it has become; a caller that has not yet asked for its status sees a Z.
runs() {
  local state
  { read -r state <"/proc/$$/stat"; } 2>/dev/null && state=${state##*) } && [ "${state%% *}" != Z ]
}

# Tells the caller. In a process of its own that is no child of the server.
watch() {
  trap '' PIPE
  local deadline=$((SECONDS + patience)) said
  until answers; do
    runs || fail "$kind has ended; its log: $log"
    [ "$SECONDS" -lt "$deadline" ] || fail "$kind does not answer after $patience s; its log: $log"
    sleep 0.01
  done
  said=$(settle 2>&1) || fail "$kind: $said"
  printf -v said ' %s' "${words[@]}"
  printf 'ready pid=%s port=%s stop=%s%s\n' "$$" "$port" "$stop" "${words:+$said}" >&9
}

[ -f "$HERE/server/$kind.sh" ] || fail "there is no server '$kind'"
. "$HERE/server/$kind.sh"
while [ $# -gt 0 ]; do
  taken=2
  case $1 in
    --port) port=$2 ;;
    --log) log=$2 ;;
    --fresh) fresh=yes taken=1 ;;
    --env) environment+=("$2") ;;
    --) arguments=("${@:2}") && break ;;
    *) option "$@" ;;
  esac
  shift "$taken"
done
mkdir -p "${folder%/*}"
exec >>"$log" 2>&1
trap 'fail "$kind could not be prepared; its log: $log"' EXIT
if [ -z "$port" ]; then
  free_port
  port=$free
elif listens "$port"; then
  fail "port $port is in use"
fi
prepare
trap - EXIT
(watch &)
exec setpriv --pdeathsig "$orphaned" "${as[@]}" env "${environment[@]}" "${command[@]}" 9>&-
