# A private Redis for ./dev run. Sourced after postgres.sh (free_port).
start_redis() {
  REDIS_PORT=$(free_port) || die "no free port between 20000 and 29999 on 127.0.0.1."
  mkdir -p "$RUN_DIR/redis"
  # In a session of its own: Ctrl-C must not end it before the service has drained.
  setsid redis-server --port "$REDIS_PORT" --bind 127.0.0.1 --dir "$RUN_DIR/redis" --save '' --appendonly no \
    --maxmemory-policy noeviction >"$LOG_DIR/redis.log" 2>&1 8>&- &
  REDIS_PID=$!
  until redis-cli -p "$REDIS_PORT" ping >/dev/null 2>&1; do
    kill -0 "$REDIS_PID" 2>/dev/null || die "Redis did not start. Its log: $LOG_DIR/redis.log"
    sleep 0.05
  done
  say "- Redis on 127.0.0.1:$REDIS_PORT (log: ${LOG_DIR#"$PWD"/}/redis.log)"
}

stop_redis() {
  [ -z "${REDIS_PID:-}" ] || kill -TERM "$REDIS_PID" 2>/dev/null || true
}
