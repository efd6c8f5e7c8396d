# ./dev compose test: the stack of docker/ on a Docker of its own, without a registry. Sourced by compose.sh. docker/README.md says
# what is real in it and what stands in.
STACK_PACKAGES="docker.io docker-compose debootstrap iptables iproute2 python3 curl"
STAND_INS="postgres:15-bookworm redis:7.0-bookworm rabbitmq:3.10 haproxy:2.6-bookworm prom/prometheus:v2.42.0"
BASE_IMAGE=debian:bookworm-slim
TEST_IMAGE=festabook:test
LAB_IMAGE=festabook:test-lab
USERS=300
SEATS=300

# --- a Docker of its own

# launch_docker <network: host or own> : its images stay in the cache. Builds need the machine's network, but no bridge; the stack
# gets a network namespace of its own, so that neither bridges, firewall rules nor ports of this machine are touched.
launch_docker() {
  local inside options=()
  case $1 in
    # Compilers give way to everything else on this machine.
    host) inside=(nice -n 10) options=(--bridge=none --iptables=false --ip6tables=false --ip-forward=false) ;;
    own) inside=(unshare --net --mount) ;;
  esac
  # In a session of its own, so that Ctrl-C leaves it to the clean-up.
  setsid "${inside[@]}" sh -c 'ip link set lo up && exec "$@"' sh \
    dockerd --data-root "$CACHE/docker/data" --exec-root "$TEST_DIR/exec" --pidfile "$TEST_DIR/docker.pid" \
    -H "$DOCKER_HOST" "${options[@]}" >>"$LOG_DIR/dockerd.log" 2>&1 8>&- &
  DOCKERD=$!
  wait_for 60 "dockerd (its log: $LOG_DIR/dockerd.log)" "$DOCKER" version || die "dockerd did not start: see $LOG_DIR/dockerd.log"
}

end_docker() {
  [ -n "${DOCKERD:-}" ] || return 0
  kill -TERM "$DOCKERD" 2>/dev/null || true
  wait "$DOCKERD" 2>/dev/null || true
  DOCKERD=
}

end_test() {
  trap '' INT TERM
  if [ "${STACK:-no}" = yes ]; then
    say "stopping … (what the containers said: ${LOG_DIR#"$PWD"/}/containers.log)"
    compose logs --no-color >"$LOG_DIR/containers.log" 2>&1 || true
    compose down --volumes --remove-orphans -t 10 >>"$LOG_DIR/compose-down.log" 2>&1 || true
  fi
  end_docker
  rm -rf "$TEST_DIR"
}

# Left over by a test that was killed.
forget_containers() {
  "$DOCKER" ps -aq | xargs -r "$DOCKER" rm -f
  "$DOCKER" volume ls -q | xargs -r "$DOCKER" volume rm
  "$DOCKER" network prune -f
}

# --- images

# The base from Debian's archive, with the machine's own entry for it.
make_base() {
  local entry root=$TEST_DIR/base
  entry=$(debian_entry) || { say "no Debian archive is configured on this machine"; return 1; }
  debootstrap --variant=minbase bookworm "$root" "${entry%% *}"
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
  tar -C "$root" --numeric-owner -cf "$1.part" .
  mv "$1.part" "$1"
  rm -rf "$root"
}

build_stand_in() {
  local tag=$1 name secret=$TEST_DIR/apt.conf
  name=${tag##*/}
  name=${name%%:*}
  apt_settings >"$secret"
  DOCKER_BUILDKIT=1 "$DOCKER" build --progress plain --network host --secret id=apt,src="$secret" \
    -f "$ROOT/docker/stand-ins/$name.Dockerfile" -t "$tag" "$ROOT/docker/stand-ins"
}

make_images() {
  local tag base=$CACHE/docker/bookworm.tar
  [ -s "$base" ] || step "make a base image (debootstrap)" "Debian's archive must be reachable." make_base "$base"
  launch_docker host
  forget_containers >>"$LOG_DIR/dockerd.log" 2>&1
  # The same again is not a new image, so what was built on it stays in the cache.
  [ -n "$("$DOCKER" images -q "$BASE_IMAGE")" ] || step "import the base image" "Look at the log." "$DOCKER" import "$base" "$BASE_IMAGE"
  for tag in $STAND_INS; do
    step "build the stand-in for $tag" "Look at the log." build_stand_in "$tag"
  done
  step "build our image (Drogon and the service; long the first time)" "Look at the log." build_image "$TEST_IMAGE" --network host
  step "build the lab's image (the service once more)" "Look at the log." build_image "$LAB_IMAGE" --network host --build-arg LAB=ON
  end_docker
}

# --- the scenario

# refused <text> <command…>: it fails and says so.
refused() {
  local text=$1 said
  shift
  if said=$("$@" 2>&1); then
    say "was not refused: $*"
    return 1
  fi
  printf '%s\n' "$said"
  grep -qF -- "$text" <<<"$said"
}

refuses_to_start() {
  local run=("$DOCKER" run --rm --network none)
  refused "'auth.jwt_secret' must have at least 32 bytes" "${run[@]}" "$TEST_IMAGE"
  refused "'demo' must be false" "${run[@]}" -e FESTA_DEMO=true "$TEST_IMAGE"
  refused "'lab' must be false" "${run[@]}" -e FESTA_LAB=true "$TEST_IMAGE"
  refused "'lab' must be false" "${run[@]}" -e FESTA_LAB=true "$LAB_IMAGE"
  refused "built without the lab" "${run[@]}" "$TEST_IMAGE" seed --users 1
  refused FESTABOOK_ "${COMPOSE[@]}" --env-file "$ROOT/docker/.env.example" "${COMPOSE_FILES[@]}" config
}

# The lab's passwords are published: tokens of its accounts must not be accepted in production.
lab_has_its_own_secret() {
  local secret
  secret=$(sed -n 's/^FESTABOOK_JWT_SECRET=//p' "$COMPOSE_ENV")
  [ -n "$secret" ] && compose config | grep 'JWT_SECRET:' | { ! grep -vF "lab-$secret"; }
}

container() { compose ps -q "$1"; }
inside() { nsenter --net="/proc/$(cat "$TEST_DIR/docker.pid")/ns/net" "$@"; }
is_ready() { "$DOCKER" exec "$(container "$1")" healthcheck /readyz; }
database() { "$DOCKER" exec -i "$(container postgres)" psql -X -q -At -v ON_ERROR_STOP=1 -U festabook -d festabook; }

make_tokens() {
  local names
  names=$(seq -f 'user%.0f' "$USERS")
  "$DOCKER" exec "$(container festabook1)" festabook seed --users "$USERS"
  # shellcheck disable=SC2086
  (umask 077 && "$DOCKER" exec "$(container festabook1)" festabook token admin $names >"$TEST_DIR/tokens")
}

rush() {
  inside python3 "$ROOT/docker/test/rush.py" "$@" --base http://127.0.0.1:8080 --tokens "$TEST_DIR/tokens" --out "$TEST_DIR/won"
}

# What the service said against what the database holds.
sales_are_right() {
  local found
  found=$({
    echo 'CREATE TEMP TABLE said (id bigint, number int, user_id bigint); COPY said FROM stdin;'
    sed 1d "$TEST_DIR/won"
    echo '\.'
    cat <<SQL
SELECT 'said and not there: ' || id FROM said s WHERE NOT EXISTS (SELECT 1 FROM reservations r JOIN seats ON seats.id = r.seat_id
  WHERE r.id = s.id AND r.user_id = s.user_id AND seats.number = s.number AND r.cancelled_at IS NULL);
SELECT 'sold twice: ' || seat_id FROM reservations WHERE performance_id = $(head -n 1 "$TEST_DIR/won") AND cancelled_at IS NULL
  GROUP BY seat_id HAVING count(*) > 1;
SELECT 'seats, sold, reservations, said: ' || concat_ws(' ', count(*), count(*) FILTER (WHERE is_reserved),
  (SELECT count(*) FROM reservations WHERE performance_id = $(head -n 1 "$TEST_DIR/won") AND cancelled_at IS NULL),
  (SELECT count(*) FROM said)) FROM seats WHERE performance_id = $(head -n 1 "$TEST_DIR/won");
SQL
  } | database)
  say "$found"
  [ "$found" = "seats, sold, reservations, said: $1 $1 $1 $1" ]
}

claims_are_right() {
  local found
  found=$(database <<SQL
SELECT concat_ws(' ', count(*) FILTER (WHERE state = 'DONE'), count(DISTINCT user_id) FILTER (WHERE state = 'DONE'),
  max(sequence), count(*) FILTER (WHERE state NOT IN ('DONE', 'FAILED')), (SELECT remaining FROM coupons WHERE id = coupon_id))
FROM coupon_claims WHERE coupon_id = $(head -n 1 "$TEST_DIR/won") GROUP BY coupon_id
SQL
  )
  say "done, people, last sequence, undecided, remaining: $found"
  [ "$found" = "$1 $1 $1 0 0" ]
}

rush_with_a_kill() {
  rush seats --count "$SEATS" --after $((SEATS / 3)) --then "$DOCKER kill $(container festabook2)"
  sales_are_right "$SEATS"
}

comes_back_by_hand() {
  "$DOCKER" start "$(container festabook2)"
  wait_for 60 "festabook2" is_ready festabook2
}

# Not through Docker, which would take it for what the operator wants.
comes_back_by_itself() {
  local before id
  id=$(container festabook3)
  before=$("$DOCKER" inspect -f '{{.RestartCount}}' "$id")
  kill -KILL "$("$DOCKER" inspect -f '{{.State.Pid}}' "$id")"
  wait_for 60 "Docker to start festabook3 again" test_restarted "$id" "$before"
  wait_for 60 "festabook3" is_ready festabook3
}
test_restarted() { [ "$("$DOCKER" inspect -f '{{.RestartCount}}' "$1")" -gt "$2" ]; }

# prometheus_says <query> <value>
prometheus_says() {
  inside curl -fsS -G --data-urlencode "query=$1" http://127.0.0.1:9090/api/v1/query | grep -qE "\"value\":\[[0-9.]+,\"$2\"\]"
}

# Seen now, not before something was killed.
sees_all_instances() {
  local now up='up{job="festabook"}' behind='haproxy_backend_active_servers{proxy="festabook"}'
  now=$(date +%s)
  wait_for 60 "three instances in Prometheus" prometheus_says "count($up == 1 and timestamp($up) > $now)" 3
  wait_for 60 "three instances behind the proxy" prometheus_says "$behind and timestamp($behind) > $now" 3
}

rush_with_an_orderly_stop() {
  rush seats --count "$SEATS" --after $((SEATS / 3)) --flawless --then "$DOCKER stop -t 45 $(container festabook1)"
  sales_are_right "$SEATS"
  "$DOCKER" start "$(container festabook1)"
  wait_for 60 "festabook1" is_ready festabook1
}

rush_on_redlock() {
  rush seats --count 50 --strategy redlock
  sales_are_right 50
}

rush_on_rabbitmq() {
  rush claims --count 100 --contenders 20 --strategy queue-rabbitmq
  claims_are_right 100
}

dashboard_is_right() {
  local name
  for name in 1 2 3; do
    "$DOCKER" exec "$(container "festabook$name")" bash -c 'exec 3<>/dev/tcp/127.0.0.1/8080
      printf "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" >&3; cat <&3'
  done >"$TEST_DIR/metrics"
  python3 "$ROOT/docker/test/dashboard.py" "$ROOT/docker/grafana/dashboards/festabook.json" "$TEST_DIR/metrics" "$ROOT"/app/*.cc
}

# status <path> [option…]: of an answer through the proxy.
status() { inside curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:8080$1" "${@:2}"; }

metrics_stay_inside() {
  [ "$(status /metrics)" = 404 ]
  [ "$(status /%6Detrics)" = 404 ]
  [ "$(status /readyz)" = 200 ]
}

# The stack as its file describes it, without the lab: it starts, and no account has a known password.
production_starts() {
  start_stack proxy
  [ "$(status /readyz)" = 200 ]
  [ "$(status /councils/login -H 'Content-Type: application/json' -d '{"username":"admin","password":"admin-demo-1"}')" = 401 ]
  compose down -t 10
}

compose_test() {
  local log="Look at the log, and at containers.log beside it."
  [ "$(id -u)" -eq 0 ] || die "./dev compose test starts a Docker daemon and makes a root file system: run it as root (sudo ./dev compose test)."
  exec 8>"$CACHE/compose-test.lock"
  flock -n 8 || die "another ./dev compose test is running."
  case ${1:-} in
    '') ;;
    --fresh) rm -rf "$CACHE/docker" ;;
    *) die "unknown option '$1'; ./dev help lists them." ;;
  esac
  # shellcheck disable=SC2086
  ensure_packages $STACK_PACKAGES
  mkdir -p "$CACHE/docker"
  TEST_DIR=$(mktemp -d)
  # Debian's, which goes with its daemon, even where there is another one on the path.
  DOCKER=/usr/bin/docker
  PATH=/usr/bin:/usr/sbin:/bin:/sbin
  unset DOCKER_CONTEXT DOCKER_TLS_VERIFY "${!FESTABOOK_@}" "${!COMPOSE_@}"
  export DOCKER_HOST=unix://$TEST_DIR/docker.sock
  trap end_test EXIT
  trap 'exit 130' INT TERM
  : >"$LOG_DIR/dockerd.log"
  make_images
  launch_docker own
  COMPOSE_FILES=(-f "$ROOT/docker/docker-compose.yml")
  COMPOSE_ENV=$TEST_DIR/env
  COMPOSE_PROJECT=festabook-test
  find_compose
  step "production refuses to start without secrets, and as a demo or lab" "$log" refuses_to_start
  make_secrets "$COMPOSE_ENV"
  printf '%s\n' "FESTABOOK_IMAGE=$TEST_IMAGE" "FESTABOOK_LAB_IMAGE=$LAB_IMAGE" >>"$COMPOSE_ENV"
  STACK=yes
  step "the stack starts as production" "$log" production_starts
  use_lab
  step "the lab signs its tokens with another secret" "$log" lab_has_its_own_secret
  # Grafana has no Debian package; its dashboard is checked below.
  step "start the stack, without Grafana and k6" "$log" start_stack proxy prometheus
  step "make users and tokens" "$log" make_tokens
  step "Prometheus and the proxy see three instances" "$log" sees_all_instances
  step "a rush on $SEATS seats; one instance is killed" "$log" rush_with_a_kill
  step "the killed instance is started and gets ready" "$log" comes_back_by_hand
  step "an instance that crashes is started again by Docker" "$log" comes_back_by_itself
  step "Prometheus and the proxy see three instances again" "$log" sees_all_instances
  step "a rush; one instance is stopped in order and no client notices" "$log" rush_with_an_orderly_stop
  step "a rush on Redlock" "$log" rush_on_redlock
  step "claims through RabbitMQ" "$log" rush_on_rabbitmq
  step "the dashboard's metrics exist" "$log" dashboard_is_right
  step "the proxy keeps /metrics inside" "$log" metrics_stay_inside
  step "compose down" "$log" compose down --volumes --remove-orphans
  STACK=no
  say "the stack works"
}
