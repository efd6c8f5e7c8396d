# The servers of ./dev run: starts them by server.sh, keeps what their lines tell, stops them. Sourced after lib.sh.
SERVERS=()  # "pid signal", the youngest first
SETTINGS=() # FESTA_… that festabook has to know of them

# start_server <kind> <name> [server.sh's options…]: sets SERVER_PID and SERVER_PORT. Its folder is RUN_DIR/<name>.
start_server() {
  local kind=$1 name=$2 line= word pipe=$RUN_DIR/$2.ready log=$LOG_DIR/$2.log
  shift 2
  rm -f "$pipe"
  mkfifo "$pipe"
  : >"$log"
  # In a session of its own: Ctrl-C must not end it before the service has drained.
  env "${SETTINGS[@]}" setsid "$ROOT/scripts/server.sh" "$kind" "$RUN_DIR/$name" --log "$log" "$@" >"$pipe" 8>&- &
  SERVER_PID=$!
  SERVERS=("$SERVER_PID TERM" "${SERVERS[@]}")
  read -r line <"$pipe" || true
  rm -f "$pipe"
  [[ $line == ready* ]] || { tail -n 5 "$log" >&2; die "$name did not start: ${line#failed }"; }
  for word in ${line#ready }; do
    case $word in
      port=*) SERVER_PORT=${word#*=} ;;
      stop=*) SERVERS[0]="$SERVER_PID ${word#*=}" ;;
      FESTA_*) SETTINGS+=("$word") ;;
    esac
  done
  say "- $name on 127.0.0.1:$SERVER_PORT (log: ${log#"$PWD"/})"
}

# start_redlock: five nodes, which the setting names.
start_redlock() {
  local i nodes=
  for i in 0 1 2 3 4; do
    start_server redis "redlock$i" --may-vote festabook
    nodes+=${nodes:+,}127.0.0.1:$SERVER_PORT
  done
  # All five share this machine with everything else: they may be slow.
  SETTINGS+=(FESTA_REDLOCK_NODES="$nodes" FESTA_REDLOCK_TIMEOUT_MS="${FESTA_REDLOCK_TIMEOUT_MS:-500}")
}

# stop_servers: the youngest first.
stop_servers() {
  local one
  for one in "${SERVERS[@]}"; do
    kill -s "${one#* }" "${one% *}" 2>/dev/null || continue
    wait "${one% *}" 2>/dev/null || true
  done
  SERVERS=()
}
