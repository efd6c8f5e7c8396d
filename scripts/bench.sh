# ./dev bench: ratios to PostgreSQL and Redis, measured in one run. Sourced after packages.sh.
BENCH_PACKAGES="wrk redis-tools postgresql-client"

bench() {
  # shellcheck disable=SC2086
  ensure_packages $BENCH_PACKAGES
  build release festabook handoffs
  FESTA_RUN_DIR=$RUN_DIR/bench exec python3 loadtest/bench/bench.py "$@"
}
