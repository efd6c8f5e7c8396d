# An instance of the service, ready when GET /readyz says so. The first of the arguments is the binary, a second one its
# configuration file; settings are FESTA_… variables in the caller's environment, those that other servers' lines told among them.

prepare() {
  # Of ./dev, not of the service.
  unset FESTA_PORT FESTA_RUN_DIR FESTA_CACHE_DIR
  export FESTA_HTTP_PORT=$port FESTA_DEMO=${FESTA_DEMO:-true}
  # No proxy has to notice that it stops, unless its file or its starter knows of one.
  [ ${#arguments[@]} -gt 1 ] || export FESTA_HTTP_DRAIN_DELAY_MS=${FESTA_HTTP_DRAIN_DELAY_MS:-0}
  command=("${arguments[@]}")
}

answers() {
  talk 'GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n' "$port" && [[ $answer == 'HTTP/1.1 200'* ]]
}
