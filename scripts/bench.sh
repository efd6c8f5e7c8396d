# ./dev bench: ratios to PostgreSQL and Redis, measured in one run. Sourced after packages.sh.
BENCH_PACKAGES="wrk redis-tools postgresql-client"

bench() {
  # shellcheck disable=SC2086
  ensure_packages $BENCH_PACKAGES
  build release festabook handoffs
  RUN_DIR=$RUN_DIR/bench
  LOG_DIR=$RUN_DIR/log
  mkdir -p "$LOG_DIR"
  . scripts/postgres.sh
  . scripts/redis.sh
  exec 8>"$RUN_DIR/run.lock"
  flock -n 8 || die "another ./dev bench is running."
  trap 'stop_redis; stop_postgres' EXIT
  ulimit -n "$(ulimit -Hn)"
  start_postgres festabook_bench
  # From scratch: the size of yesterday's tables is no part of today's figures.
  pg_query -d postgres -c 'DROP DATABASE festabook_bench' -c 'CREATE DATABASE festabook_bench OWNER festabook'
  start_redis
  BENCH_FOLDER=$LOG_DIR BENCH_BINARY=$PWD/.build/release/festabook BENCH_HANDOFFS=$PWD/.build/release/loadtest/handoffs \
    BENCH_PG_PORT=$PG_PORT BENCH_PG_PASSWORD=$(cat "$PG_DATA.password") BENCH_REDIS_PORT=$REDIS_PORT \
    BENCH_FIRST_PORT=$(free_port) BENCH_COMMIT=$(git rev-parse --short HEAD 2>/dev/null || true) \
    python3 loadtest/bench/bench.py "$@" 8>&- &
  # In the background, so that a signal to this script reaches it at once.
  local pid=$! status=0
  trap 'kill -TERM "$pid" 2>/dev/null; wait "$pid"; exit 130' INT TERM
  wait "$pid" || status=$?
  return "$status"
}
