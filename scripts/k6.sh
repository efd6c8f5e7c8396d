# k6, the load generator: the machine's, one built once into the cache, or its container image. Sourced after lib.sh.
K6_VERSION=v1.8.1
export K6_IMAGE=grafana/k6:${K6_VERSION#v}

build_k6() {
  # Named when it is complete: an interrupted build leaves nothing that looks finished.
  GOBIN=$1.new GOFLAGS=-buildvcs=false go install "go.k6.io/k6@$K6_VERSION"
  mkdir -p "$1"
  mv "$1.new/k6" "$1/k6"
  rmdir "$1.new"
}

# ensure_k6: sets K6.
ensure_k6() {
  local folder=$CACHE/k6-$K6_VERSION
  K6=$(command -v k6 || true)
  [ -z "$K6" ] || return 0
  K6=$folder/k6
  [ ! -x "$K6" ] || return 0
  if ! command -v go >/dev/null; then
    docker image inspect "$K6_IMAGE" >/dev/null 2>&1 || docker pull --quiet "$K6_IMAGE" >/dev/null ||
      die "the load tests need k6, and there is neither k6 nor Go to build it with nor the container image $K6_IMAGE. \
Install one of them."
    K6=$ROOT/scripts/k6_container.sh
    return 0
  fi
  step "build k6 $K6_VERSION (some minutes, once per machine)" \
    "It needs Go 1.25 or newer and the modules of go.k6.io/k6; a k6 on PATH will do, too." build_k6 "$folder"
}
