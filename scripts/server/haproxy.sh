# HAProxy with the configuration that is shipped, docker/haproxy.cfg, in front of instances on this machine; it is ready when it
# uses all of them.
#   --instance PORT   of an instance; the first servers of the file stand for them, in their order
#   --change FROM TO  text that is exactly once in the file, and what stands there instead
# Its line has operations=PORT, where its metrics are.
instances=() changes=() operations=

option() {
  case $1 in
    --instance) instances+=("$2") ;;
    --change) changes+=("$2" "$3") taken=3 ;;
    *) fail "unknown option '$1' of a HAProxy" ;;
  esac
}

# change TEXT FROM TO: sets `changed`.
change() {
  local without=${1//"$2"/}
  [ $((${#1} - ${#without})) -eq "${#2}" ] || fail "not once in the configuration of HAProxy: $2"
  changed=${1/"$2"/"$3"}
}

# Every line of a server becomes one of ours or goes.
with_instances() {
  local line keyword name address rest
  changed=
  while IFS= read -r line; do
    read -r keyword name address rest <<<"$line"
    if [ "$keyword" != server ]; then
      changed+=$line$'\n'
    elif [ ${#instances[@]} -gt 0 ]; then
      changed+="  server $name 127.0.0.1:${instances[0]} $rest"$'\n'
      instances=("${instances[@]:1}")
    fi
  done
  [ ${#instances[@]} -eq 0 ] || fail "too few servers in the configuration of HAProxy"
}

prepare() {
  wanted=${#instances[@]}
  # HAProxy does not start where its connections, two files each, exceed what the machine allows.
  local files connections=8000
  files=$(ulimit -Hn)
  [ "$files" = unlimited ] || [ $(((files - 200) / 2)) -ge 8000 ] || connections=$(((files - 200) / 2))
  free_port && operations=$free
  with_instances <"$HERE/../docker/haproxy.cfg"
  changes=('bind :8080' "bind 127.0.0.1:$port" 'bind :8404' "bind 127.0.0.1:$operations" 'maxconn 8000' "maxconn $connections"
    "${changes[@]}")
  local i
  for ((i = 0; i < ${#changes[@]}; i += 2)); do
    change "$changed" "${changes[i]}" "${changes[i + 1]}"
  done
  mkdir -p "$folder"
  printf '%s' "$changed" >"$folder/haproxy.cfg"
  command=(haproxy -db -f "$folder/haproxy.cfg" "${arguments[@]}")
  words=("operations=$operations")
}

answers() {
  talk 'GET /metrics HTTP/1.0\r\n\r\n' "$operations" &&
    [[ $answer == *$'\n'"haproxy_backend_active_servers{proxy=\"festabook\"} $wanted"$'\n'* ]]
}
