# Debian packages this project needs, and their installation. Sourced after lib.sh.
# What compiling takes; the container image is built with these alone.
COMPILE_PACKAGES="g++ cmake ninja-build pkg-config git ca-certificates dpkg-dev patch
  libjsoncpp-dev uuid-dev zlib1g-dev libssl-dev libpq-dev libhiredis-dev libbrotli-dev libc-ares-dev
  libsodium-dev libjwt-dev libutf8proc-dev nlohmann-json3-dev prometheus-cpp-dev librabbitmq-dev libmimalloc-dev"
BUILD_PACKAGES="$COMPILE_PACKAGES ccache curl procps python3 libgtest-dev libgmock-dev
  postgresql postgresql-client redis-server rabbitmq-server haproxy"
# argon2: for what docker/README.md shows. The pages are tried in a browser.
TEST_PACKAGES="argon2 nodejs python3-jsonschema python3-selenium chromium chromium-driver fonts-noto-cjk"
LINT_PACKAGES="clang-format clang-tidy lua-check"
FUZZ_PACKAGES="clang libclang-rt-dev"

missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s ' "$package"
  done
}

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "$@"
}

ensure_packages() {
  local missing
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  command -v apt-get >/dev/null || die "these Debian packages are missing and there is no apt-get: $missing"
  [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
    die "install these packages first (no sudo here): apt-get install $missing"
  as_root true  # sudo asks for the password here, not in the background
  # shellcheck disable=SC2086
  step "install packages" "Check that 'apt-get update' works on this machine, then run this again." apt_install $missing
}
