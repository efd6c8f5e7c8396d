# ./dev compose up | down | test: the stack of docker/. Sourced after lib.sh. The test has a file of its own.
COMPOSE_ENV=$ROOT/docker/.env

# Compose 2 is a part of docker, 1 a program of its own.
find_compose() {
  DOCKER=${DOCKER:-docker}
  command -v "$DOCKER" >/dev/null || die "there is no docker here: install Docker and its compose."
  if "$DOCKER" compose version >/dev/null 2>&1; then
    COMPOSE=("$DOCKER" compose)
  elif command -v docker-compose >/dev/null; then
    COMPOSE=(docker-compose)
  else
    die "docker has no compose here: install the package docker-compose."
  fi
}

# make_secrets <file>: .env.example with a random value for all that has none.
make_secrets() {
  local line
  (
    umask 077
    while IFS= read -r line; do
      [[ ! $line =~ ^[A-Z_]+=$ ]] || line+=$(head -c 33 /dev/urandom | base64 | tr '/+' '_-')
      printf '%s\n' "$line"
    done <"$ROOT/docker/.env.example" >"$1"
  )
}

# What the machine's apt needs to reach its archive (a proxy, for example), for the time of a build.
apt_settings() {
  ! command -v apt-config >/dev/null || apt-config dump | grep -E '^Acquire::(https?|Check-Valid-Until|Retries|ForceIPv)' || true
}

# build_image <tag> [option…]: the Dockerfile wants BuildKit.
build_image() {
  local tag=$1 secret status=0
  shift
  secret=$(mktemp)
  apt_settings >"$secret"
  DOCKER_BUILDKIT=1 "$DOCKER" build --progress plain --secret id=apt,src="$secret" -f "$ROOT/docker/Dockerfile" -t "$tag" \
    --build-arg VERSION="$(git -C "$ROOT" describe --always --dirty 2>/dev/null || echo dev)" \
    --build-arg REVISION="$(git -C "$ROOT" rev-parse HEAD 2>/dev/null || echo unknown)" \
    --build-arg CREATED="$(TZ=UTC git -C "$ROOT" log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null)" \
    "$@" "$ROOT" || status=$?
  rm -f "$secret"
  return "$status"
}

# compose <argument…>: with our file, the secrets and, after `use_lab`, the lab.
COMPOSE_FILES=(-f "$ROOT/docker/docker-compose.yml")
compose() {
  "${COMPOSE[@]}" --env-file "$COMPOSE_ENV" -p "${COMPOSE_PROJECT:-festabook}" "${COMPOSE_FILES[@]}" "$@"
}

use_lab() {
  COMPOSE_FILES+=(-f "$ROOT/docker/compose.lab.yml")
  export COMPOSE_PROFILES=redlock,rabbitmq
}

# wait_for <seconds> <what> <command…>: until it succeeds.
wait_for() {
  local deadline=$(($(date +%s) + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ "$(date +%s)" -lt "$deadline" ] || { say "waited in vain for: $what"; return 1; }
    sleep 0.2
  done
}

# is_healthy <service>
is_healthy() {
  [ "$("$DOCKER" inspect -f '{{.State.Health.Status}}' "$(compose ps -q "$1")")" = healthy ]
}

start_stack() {
  compose up -d --no-build "$@"
  wait_for 120 "a healthy proxy" is_healthy proxy
}

compose_up() {
  local image=FESTABOOK_IMAGE tag=festabook:local options=()
  case ${1:-} in
    '') ;;
    --lab)
      use_lab
      image=FESTABOOK_LAB_IMAGE tag=festabook:lab options=(--build-arg LAB=ON)
      ;;
    *) die "unknown option '$1'; ./dev help lists them." ;;
  esac
  find_compose
  if [ ! -s "$COMPOSE_ENV" ]; then
    make_secrets "$COMPOSE_ENV"
    say "- new secrets in docker/.env, for your eyes only"
  fi
  local chosen
  chosen=$(sed -n "s/^$image=//p" "$COMPOSE_ENV")
  step "build the image (some minutes the first time)" "Docker must run, with BuildKit." build_image "${chosen:-$tag}" "${options[@]}"
  step "start the stack" "'docker logs' of the service named above says more." start_stack
  say "ready http://$(compose port proxy 8080), Prometheus http://$(compose port prometheus 9090)," \
    "Grafana http://$(compose port grafana 3000) (admin, password in docker/.env)"
  say "  ./dev compose down stops it"
}

compose_down() {
  local volumes=()
  case ${1:-} in
    '') ;;
    --volumes) volumes=(--volumes) ;;
    *) die "unknown option '$1'; ./dev help lists them." ;;
  esac
  find_compose
  [ -s "$COMPOSE_ENV" ] || die "there is no docker/.env: nothing was started from here."
  # With the lab's file it knows all that may run.
  use_lab
  step "stop the stack" "'docker ps' shows what is left." compose down --remove-orphans "${volumes[@]}"
}

compose_command() {
  local what=${1:-}
  [ $# -eq 0 ] || shift
  case $what in
    up) compose_up "$@" ;;
    down) compose_down "$@" ;;
    test)
      . "$ROOT/scripts/compose_test.sh"
      compose_test "$@"
      ;;
    *) die "./dev compose up, down or test; ./dev help says what they do." ;;
  esac
}
