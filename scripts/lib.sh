# Shared by ./dev and the scripts beside this file: announcing steps, paths, privileges. Sourced, not run.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
RUN_DIR=${FESTA_RUN_DIR:-$ROOT/.run}
case $RUN_DIR in /*) ;; *) RUN_DIR=$PWD/$RUN_DIR ;; esac
CACHE=${FESTA_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/festabook}
LOG_DIR=$RUN_DIR/log
mkdir -p "$LOG_DIR" "$CACHE"

say() { printf '%s\n' "$*"; }
die() { printf 'festabook: %s\n' "$*" >&2; exit 1; }

# step "what happens" "what to do if it fails" command…: runs it with its output in a log, says how long it took.
step() {
  local what=$1 hint=$2 log started status=0
  shift 2
  log=$LOG_DIR/$(printf '%s' "$what" | tr -cs 'A-Za-z0-9' '-' | tr 'A-Z' 'a-z' | sed 's/^-//;s/-$//').log
  started=$(date +%s)
  printf -- '- %s … (log: %s)\n' "$what" "${log#"$PWD"/}"
  # A process group of its own, so that an interruption ends all of it.
  set -m
  ( set -e; "$@" ) >"$log" 2>&1 </dev/null &
  local pid=$! waited=0 interrupt terminate
  set +m
  interrupt=$(trap -p INT)
  terminate=$(trap -p TERM)
  trap 'kill -TERM -- -'"$pid"' 2>/dev/null; exit 130' INT TERM
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    waited=$((waited + 1))
    if [ $((waited % 150)) -eq 0 ]; then
      printf '  … %s s: %s\n' "$(($(date +%s) - started))" "$(tail -n 1 "$log" | cut -c1-110)"
    fi
  done
  wait "$pid" 2>/dev/null || status=$?
  trap - INT TERM
  eval "$interrupt"
  eval "$terminate"
  if [ "$status" -ne 0 ]; then
    tail -n 30 "$log" >&2
    die "\"$what\" failed (exit $status). $hint The whole log: $log"
  fi
  printf '  done in %s s\n' "$(($(date +%s) - started))"
}

# The privileges to install packages: none needed as root, sudo otherwise.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}
