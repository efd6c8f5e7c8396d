# Private Redis servers for ./dev run, none of them on disk. Sourced after postgres.sh (free_port).
REDIS_PIDS=()

# launch_redis <name>: sets REDIS_PORT.
launch_redis() {
  local name=$1 pid
  REDIS_PORT=$(free_port) || die "no free port between 20000 and 29999 on 127.0.0.1."
  mkdir -p "$RUN_DIR/$name"
  # In a session of its own: Ctrl-C must not end it before the service has drained.
  setsid redis-server --port "$REDIS_PORT" --bind 127.0.0.1 --dir "$RUN_DIR/$name" --save '' --appendonly no \
    --maxmemory-policy noeviction >"$LOG_DIR/$name.log" 2>&1 8>&- &
  pid=$!
  REDIS_PIDS+=("$pid")
  until redis-cli -p "$REDIS_PORT" ping >/dev/null 2>&1; do
    kill -0 "$pid" 2>/dev/null || die "Redis did not start. Its log: $LOG_DIR/$name.log"
    sleep 0.05
  done
}

start_redis() {
  launch_redis redis
  say "- Redis on 127.0.0.1:$REDIS_PORT (log: ${LOG_DIR#"$PWD"/}/redis.log)"
}

# start_redlock: five nodes; sets REDLOCK_NODES as the service takes it.
start_redlock() {
  local i
  REDLOCK_NODES=
  for i in 0 1 2 3 4; do
    launch_redis "redlock$i"
    # They may vote at once: no service runs yet, so nobody can hold anything that they forgot.
    redis-cli -p "$REDIS_PORT" set festabook:redlock:ready 1 >/dev/null
    REDLOCK_NODES+=${REDLOCK_NODES:+,}127.0.0.1:$REDIS_PORT
  done
  say "- five Redlock nodes on $REDLOCK_NODES (logs: ${LOG_DIR#"$PWD"/}/redlock?.log)"
}

stop_redis() {
  [ ${#REDIS_PIDS[@]} -eq 0 ] || kill -TERM "${REDIS_PIDS[@]}" 2>/dev/null || true
}
