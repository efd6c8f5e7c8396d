# A Redis that writes nothing to its disk unless its arguments say otherwise.
#   --may-vote ROOT  as a node of Redlock: it votes at once, because no client holds anything that it forgot. ROOT is that of the
#                    keys in Redis.
root=

option() {
  [ "$1" = --may-vote ] || fail "unknown option '$1' of a Redis"
  root=$2
}

prepare() {
  [ -z "$fresh" ] || rm -rf "$folder"
  mkdir -p "$folder"
  command=(redis-server --port "$port" --bind 127.0.0.1 --dir "$folder" --save '' --appendonly no --daemonize no
    "${arguments[@]}")
  [ -n "$root" ] || words=(FESTA_REDIS_HOST=127.0.0.1 "FESTA_REDIS_PORT=$port")
}

answers() { talk 'PING\r\nQUIT\r\n' "$port" && [[ $answer == +PONG* ]]; }

settle() { [ -z "$root" ] || { talk "SET $root:redlock:ready 1\r\nQUIT\r\n" "$port" && [[ $answer == +OK* ]]; }; }
