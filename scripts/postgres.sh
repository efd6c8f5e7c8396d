# A private PostgreSQL for ./dev run. Sourced after lib.sh. PostgreSQL refuses to run as root, so root hands it to the
# package's postgres user.
PG_BIN=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1) || true

as_postgres() {
  if [ "$(id -u)" -eq 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

# The data folder: in the run folder, or elsewhere when the postgres user cannot reach that.
pg_folder() {
  if [ "$(id -u)" -ne 0 ] || runuser -u postgres -- test -x "$RUN_DIR"; then
    printf '%s/postgres' "$RUN_DIR"
  else
    printf '/var/tmp/festabook-%s' "$(printf '%s' "$RUN_DIR" | sha256sum | cut -c1-12)"
  fi
}

free_port() {
  local port
  for port in $(shuf -i 20000-29999 -n 50); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { printf '%s' "$port"; return 0; }
  done
  return 1
}

make_postgres() {
  local data=$1
  mkdir -p "$data"
  [ "$(id -u)" -ne 0 ] || chown postgres: "$data"
  as_postgres chmod 700 "$data"
  (umask 077 && head -c 24 /dev/urandom | base64 | tr -d '/+=' >"$PG_DATA.password")
  local copy
  copy=$(mktemp)
  cat "$PG_DATA.password" >"$copy"
  [ "$(id -u)" -ne 0 ] || chown postgres: "$copy"
  as_postgres "$PG_BIN/initdb" -D "$data" -U postgres -A scram-sha-256 --pwfile="$copy" -E UTF8 --locale=C --no-instructions
  rm -f "$copy"
}

launch_postgres() {
  local data=$1 port=$2
  as_postgres "$PG_BIN/pg_ctl" -D "$data" -w -t 60 -l "$data/server.log" \
    -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=400 -c lc_messages=C" start 8>&-
}

pg_query() {
  PGPASSWORD=$(cat "$PG_DATA.password") psql -X -q -At -h 127.0.0.1 -p "$PG_PORT" -U postgres "$@"
}

prepare_database() {
  local name=$1 password
  password=$(cat "$PG_DATA.password")
  [ "$(pg_query -d postgres -c "SELECT 1 FROM pg_roles WHERE rolname = 'festabook'")" = 1 ] ||
    pg_query -d postgres -c "CREATE ROLE festabook LOGIN PASSWORD '$password'"
  [ "$(pg_query -d postgres -c "SELECT 1 FROM pg_database WHERE datname = '$name'")" = 1 ] ||
    pg_query -d postgres -c "CREATE DATABASE $name OWNER festabook"
}

# start_postgres <database>: sets PG_PORT; stop_postgres ends it again.
start_postgres() {
  PG_DATA=$(pg_folder)
  # Without its password a cluster is of no use.
  [ -s "$PG_DATA.password" ] || rm -rf "$PG_DATA"
  [ -s "$PG_DATA/PG_VERSION" ] ||
    step "create a private PostgreSQL" "Look at the log; './dev clean' removes a half-made one." make_postgres "$PG_DATA"
  # Left over by a ./dev run that was killed.
  as_postgres "$PG_BIN/pg_ctl" -D "$PG_DATA" -m immediate -w stop >/dev/null 2>&1 || true
  PG_PORT=$(free_port) || die "no free port between 20000 and 29999 on 127.0.0.1."
  step "start PostgreSQL" "Its own log is $PG_DATA/server.log." launch_postgres "$PG_DATA" "$PG_PORT"
  prepare_database "$1"
}

stop_postgres() {
  [ -z "${PG_PORT:-}" ] || as_postgres "$PG_BIN/pg_ctl" -D "$PG_DATA" -m fast -w -t 30 stop >/dev/null 2>&1 || true
}
