# A PostgreSQL with the cluster in the folder, which is made when it is missing. Its superuser is postgres; the password is in
# FOLDER.password. As root: runs as the package's user postgres, and where that one cannot reach the folder the cluster is in /var/tmp.
#   --set NAME=VALUE  a server setting
#   --trust           a new cluster asks for no password
#   --database NAME   a database of the user festabook, made when it is missing; the line has the settings for it
#   --remove          start nothing, forget the cluster; refused while a server uses it
stop=INT orphaned=QUIT  # fast and immediate shutdown
BIN=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
settings=(listen_addresses=127.0.0.1 unix_socket_directories= max_connections=400 lc_messages=C)
trust= database= remove=

option() {
  case $1 in
    --set) settings+=("$2") ;;
    --trust) trust=yes taken=1 ;;
    --database) database=$2 ;;
    --remove) remove=yes taken=1 ;;
    *) fail "unknown option '$1' of a PostgreSQL" ;;
  esac
}

as_postgres() { setpriv "${as[@]}" "$@"; }

# Sets `data`. A name in /var/tmp may have been taken by another user.
find_data() {
  data=$folder
  as_postgres test -x "${folder%/*}" && return
  data=/var/tmp/festabook-$(printf '%s' "$folder" | sha256sum | cut -c1-12)
  mkdir "$data" 2>/dev/null || { [ -d "$data" ] && [ ! -L "$data" ]; } || fail "$data is no folder"
  case $(stat -c %U "$data") in root | postgres) ;; *) fail "$data is not a folder of postgres" ;; esac
}

forget() {
  local pid
  { read -r pid <"$data/postmaster.pid"; } 2>/dev/null || pid=none
  [ ! "/proc/$pid/cwd" -ef "$data" ] || fail "process $pid uses $data"
  rm -rf "$data" "$folder.password"
}

make_cluster() {
  local password=$folder.password how=scram-sha-256 copy
  [ -z "$trust" ] || how=trust
  rm -rf "$data"
  mkdir -p "$data"
  [ "$(id -u)" -ne 0 ] || chown postgres: "$data"
  chmod 700 "$data"
  (umask 077 && head -c 24 /dev/urandom | base64 | tr -d '/+=' >"$password")
  copy=$(mktemp)
  cat "$password" >"$copy"
  [ "$(id -u)" -ne 0 ] || chown postgres: "$copy"
  as_postgres "$BIN/initdb" -D "$data" -U postgres -A "$how" --pwfile="$copy" -E UTF8 --locale=C --no-instructions --no-sync ||
    rm -rf "$data"
  rm -f "$copy"
  [ -d "$data" ]
}

prepare() {
  [ "$(id -u)" -ne 0 ] || as=(--reuid postgres --regid postgres --init-groups)
  cd /  # where the user postgres may be
  find_data
  if [ -n "$remove" ]; then
    forget
    printf 'removed\n' >&9
    trap - EXIT
    exit 0
  fi
  [ -z "$fresh" ] || forget
  # Without its password a cluster is of no use.
  [ -s "$data/PG_VERSION" ] && [ -s "$folder.password" ] || make_cluster
  local setting
  command=("$BIN/postgres" -D "$data" -p "$port")
  for setting in "${settings[@]}"; do command+=(-c "$setting"); done
  words=("FESTA_DATABASE_PORT=$port")
  [ -z "$database" ] || words+=("FESTA_DATABASE_NAME=$database" "FESTA_DATABASE_PASSWORD=$(cat "$folder.password")")
}

# As pg_ctl(1) knows it.
answers() {
  local lines
  { mapfile -t lines <"$data/postmaster.pid"; } 2>/dev/null && [ "${lines[0]:-}" = $$ ] && [[ ${lines[7]:-} == ready* ]]
}

query() {
  PGPASSWORD=$(cat "$folder.password") psql -X -q -At -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$port" -U postgres -d postgres
}

settle() {
  [ -n "$database" ] || return 0
  query <<SQL
SELECT 'CREATE ROLE festabook LOGIN PASSWORD ''$(cat "$folder.password")'''
  WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'festabook') \gexec
SELECT 'CREATE DATABASE $database OWNER festabook'
  WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '$database') \gexec
SQL
}
