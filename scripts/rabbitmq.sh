# A private RabbitMQ for ./dev run; what its queues hold stays in the run folder. Sourced after postgres.sh (free_port).
RABBIT_PIDS=()

# Left over by a ./dev run that was killed. Two brokers must not share a folder.
end_old_rabbitmq() {
  local pid
  [ -f "$RUN_DIR/rabbitmq.pids" ] || return 0
  while read -r pid; do
    grep -qszxF "FESTA_RABBITMQ=$RUN_DIR" "/proc/$pid/environ" || continue
    kill -KILL "$pid" 2>/dev/null || true
    while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
  done <"$RUN_DIR/rabbitmq.pids"
}

# start_rabbitmq: sets RABBIT_PORT; its user is guest, as is the password.
start_rabbitmq() {
  local epmd_port dist_port
  end_old_rabbitmq
  RABBIT_PORT=$(free_port) && dist_port=$(free_port) && epmd_port=$(free_port) ||
    die "no free port between 20000 and 29999 on 127.0.0.1."
  # In sessions of their own: Ctrl-C must not end them before the service has drained.
  FESTA_RABBITMQ=$RUN_DIR setsid epmd -port "$epmd_port" -address 127.0.0.1 >"$LOG_DIR/epmd.log" 2>&1 8>&- &
  RABBIT_PIDS+=("$!")
  FESTA_RABBITMQ=$RUN_DIR setsid "$ROOT/scripts/rabbitmq-broker.sh" "$RUN_DIR/rabbitmq" "$RABBIT_PORT" "$dist_port" \
    "$epmd_port" >"$LOG_DIR/rabbitmq.log" 2>&1 8>&- &
  RABBIT_PIDS=("$!" "${RABBIT_PIDS[@]}")
  printf '%s\n' "${RABBIT_PIDS[@]}" >"$RUN_DIR/rabbitmq.pids"
  # It listens when everything else has started.
  until (exec 3<>"/dev/tcp/127.0.0.1/$RABBIT_PORT") 2>/dev/null; do
    kill -0 "${RABBIT_PIDS[0]}" 2>/dev/null || die "RabbitMQ did not start. Its log: $LOG_DIR/rabbitmq.log"
    sleep 0.1
  done
  say "- RabbitMQ on 127.0.0.1:$RABBIT_PORT (log: ${LOG_DIR#"$PWD"/}/rabbitmq.log)"
}

# The broker before the epmd that knows it.
stop_rabbitmq() {
  local pid
  for pid in "${RABBIT_PIDS[@]}"; do
    kill -TERM "$pid" 2>/dev/null || continue
    wait "$pid" 2>/dev/null || true
  done
}
