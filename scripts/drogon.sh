# Drogon and trantor, built once per machine into the cache. Sourced after lib.sh.
#
# Debian 12 has no Drogon and Debian 13's is too old, so the sources come from Debian's newer suites (read through an apt
# configuration of our own; the machine's stays untouched) or from upstream's tag: the exact version first, wherever it is, then
# newer ones. Sources that do not take every patch are not used. Built with LIBPQ_BATCH_MODE=OFF: in
# batch mode one failing statement can hand results to the wrong queries, and a connection reset can hang a coroutine. In large
# pieces (unity), which compile in half the time. An installed Drogon is not used: it lacks the patches in scripts/patches, without
# which one request can end the process, and the end of a subscription to Redis reads freed memory.
DROGON_MINIMUM=1.9.13
TRANTOR_MINIMUM=1.5.28
DROGON_PATCHES="$ROOT/scripts/patches/drogon-*.patch $ROOT/scripts/patches/trantor-*.patch"
DROGON_FLAGS="-DLIBPQ_BATCH_MODE=OFF -DUSE_SUBMODULE=OFF -DBUILD_EXAMPLES=OFF -DBUILD_CTL=OFF -DBUILD_SQLITE=OFF
  -DBUILD_MYSQL=OFF -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF -DCMAKE_UNITY_BUILD=ON"
# Of Drogon's own headers, what tests/fuzz needs to hand bytes to its server, and what tests/unit tests: installed into
# include/drogon-private.
DROGON_PRIVATE_HEADERS="HttpConnectionPace.h HttpServer.h impl_forwards.h"

at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]; }

# Debian's own entry of this machine: prints "<uri> <keyring or empty>".
debian_entry() {
  local file
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] || continue
    awk 'BEGIN { RS = ""; FS = "\n" }
      { uri = ""; key = ""; debian = 0
        for (i = 1; i <= NF; i++) {
          if ($i ~ /^URIs:/) { split($i, a, /[ \t]+/); uri = a[2] }
          if ($i ~ /^Signed-By:/) { split($i, a, /[ \t]+/); key = a[2] }
          if ($i ~ /^Suites:/ && $i !~ /security/ && $i ~ /bookworm|trixie|forky|sid|stable|testing/) debian = 1
        }
        if (debian && uri != "") { print uri, key; exit } }' "$file"
  done | head -n 1 | grep . && return 0
  [ -f /etc/apt/sources.list ] || return 1
  sed -nE 's/^deb +(\[[^]]*signed-by=([^] ]*)[^]]*\] +|\[[^]]*\] +)?([a-z+]+:[^ ]+) +[^ ]+ +main.*/\3 \2/p' \
    /etc/apt/sources.list | grep -v security | head -n 1 | grep .
}

# debian_apt <suite>: sets DEBIAN_APT to apt's options for the sources of that suite, kept under the cache.
debian_apt() {
  local suite=$1 entry uri key apt=$CACHE/apt/$1
  entry=$(debian_entry) || return 1
  uri=${entry%% *}
  key=${entry#* }
  mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial"
  {
    printf 'Types: deb-src\nURIs: %s\nSuites: %s\nComponents: main\n' "$uri" "$suite"
    [ -z "$key" ] || printf 'Signed-By: %s\n' "$key"
  } >"$apt/parts/debian.sources"
  DEBIAN_APT=(-q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$apt/parts"
    -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root -o APT::Get::Download-Only=false)
}

# debian_version <package>: the version that DEBIAN_APT's suite has of it, without Debian's own part.
debian_version() {
  apt-cache "${DEBIAN_APT[@]}" showsrc "$1" 2>/dev/null | sed -nE 's/^Version: ([0-9.]*[0-9]).*/\1/p' | sort -V | tail -n 1 | grep .
}

# offer_from_debian <suite>: "<Drogon's version> <trantor's> <how to fetch them>", if the suite can be read and has both.
offer_from_debian() {
  local drogon trantor
  debian_apt "$1" && apt-get "${DEBIAN_APT[@]}" update >&2 || return 1
  drogon=$(debian_version drogon) && trantor=$(debian_version trantor) && say "$drogon $trantor fetch_from_debian $1"
}

# fetch_from_debian <suite> <folder>: unpacks drogon/ and trantor/ there.
fetch_from_debian() {
  local into=$2
  debian_apt "$1" && (cd "$into" && apt-get "${DEBIAN_APT[@]}" source drogon trantor) || return 1
  mv "$into"/drogon-*/ "$into/drogon" && mv "$into"/trantor-*/ "$into/trantor"
}

offer_from_git() { say "$DROGON_MINIMUM $TRANTOR_MINIMUM fetch_from_git"; }

fetch_from_git() {
  git clone -q --depth 1 --branch "v$DROGON_MINIMUM" https://github.com/drogonframework/drogon "$1/drogon" &&
    git clone -q --depth 1 --branch "v$TRANTOR_MINIMUM" https://github.com/an-tao/trantor "$1/trantor"
}

# Where sources may come from: each prints its offer, or nothing.
DROGON_OFFERS=("offer_from_debian testing" "offer_from_debian unstable" offer_from_git)

# drogon_offers: all offers that are new enough, those of exactly the version that the patches were made for before newer ones.
drogon_offers() {
  local offer all exact="^${DROGON_MINIMUM//./\\.} ${TRANTOR_MINIMUM//./\\.} "
  all=$(for offer in "${DROGON_OFFERS[@]}"; do $offer || true; done)
  grep -e "$exact" <<<"$all" || true
  grep -ve "$exact" <<<"$all" | while read -r drogon trantor how; do
    ! at_least "$drogon" "$DROGON_MINIMUM" || ! at_least "$trantor" "$TRANTOR_MINIMUM" || say "$drogon $trantor $how"
  done
}

# fetch_drogon <folder>: drogon/ and trantor/ with our patches there, from the first offer that can be had and takes all patches.
fetch_drogon() {
  local into=$1 offers offer drogon trantor how
  mapfile -t offers < <(drogon_offers)
  for offer in "${offers[@]}"; do
    read -r drogon trantor how <<<"$offer"
    say "Drogon $drogon and trantor $trantor ($how)"
    rm -rf "$into"
    mkdir -p "$into"
    if ! $how "$into"; then
      say "They cannot be had."
    elif apply_patches "$into"; then
      return 0
    fi
  done
  rm -rf "$into"
  say "Neither Debian's source packages nor upstream's repository gave a Drogon >= $DROGON_MINIMUM that takes our patches."
  return 1
}

# apply_patches <folder>: our patches to drogon/ and trantor/ there. A patch that neither applies nor is contained already makes
# these sources unusable: what it mends would be missing in silence.
apply_patches() {
  local mend name folder
  for mend in $DROGON_PATCHES; do
    name=$(basename "$mend")
    folder=$1/${name%%-*}
    if patch -s -f --dry-run -d "$folder" -p1 <"$mend" >/dev/null; then
      patch -s -f -d "$folder" -p1 <"$mend" || return 1
    elif patch -s -f -R --dry-run -d "$folder" -p1 <"$mend" >/dev/null; then
      say "$name is contained already."
    else
      say "$name does not apply to these sources."
      return 1
    fi
  done
}

flavour_flags() {
  case $1 in
    release) printf '%s' "-O2 -g1" ;;
    asan) printf '%s' "-O1 -g1 -fno-omit-frame-pointer -fsanitize=address" ;;
    tsan) printf '%s' "-O1 -g1 -fno-omit-frame-pointer -fsanitize=thread" ;;
    fuzz) printf '%s' "-O1 -g1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" ;;
  esac
}

# The fuzzer needs neither a database nor Redis.
flavour_options() {
  case $1 in
    fuzz) printf '%s' " -DBUILD_ORM=OFF -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++" ;;
  esac
}

flavour_compiler() {
  case $1 in
    fuzz) clang++ -dumpversion ;;
    *) c++ -dumpfullversion ;;
  esac
}

drogon_prefix() {
  local key
  key=$(printf '%s' "$DROGON_MINIMUM $TRANTOR_MINIMUM $DROGON_FLAGS$(flavour_options "$1") $DROGON_PRIVATE_HEADERS $(cat $DROGON_PATCHES) $(flavour_flags "$1") $(flavour_compiler "$1") $(. /etc/os-release && echo "$VERSION_ID")" |
    sha256sum | cut -c1-12)
  printf '%s/drogon-%s-%s-%s' "$CACHE" "$DROGON_MINIMUM" "$1" "$key"
}

build_drogon() {
  local flavour=$1 prefix=$2 part header source=$CACHE/source launcher=
  # A changed patch then compiles only the pieces it touches.
  ! command -v ccache >/dev/null || launcher=-DCMAKE_CXX_COMPILER_LAUNCHER=ccache
  exec 9>"$CACHE/drogon.lock"
  flock 9
  [ ! -f "$prefix/complete" ] || return 0
  fetch_drogon "$source" || return 1
  rm -rf "$prefix"
  for part in trantor drogon; do
    # shellcheck disable=SC2046,SC2086
    cmake -S "$source/$part" -B "$CACHE/build/$flavour/$part" -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_CXX_FLAGS="$(flavour_flags "$flavour")" -DCMAKE_CXX_FLAGS_RELEASE="-DNDEBUG" \
      -DCMAKE_CXX_STANDARD=20 -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_PREFIX_PATH="$prefix" $DROGON_FLAGS \
      $(flavour_options "$flavour") $launcher
    cmake --build "$CACHE/build/$flavour/$part"
    cmake --install "$CACHE/build/$flavour/$part"
  done
  mkdir -p "$prefix/include/drogon-private"
  for header in $DROGON_PRIVATE_HEADERS; do
    cp "$source/drogon/lib/src/$header" "$prefix/include/drogon-private/"
  done
  # The compiler cache knows a precompiled header by the contents of what it includes, the compiler knows what is in it by their
  # times, too: patched headers of two builds must not differ in these alone.
  find "$prefix/include" -type f -exec touch -d @946684800 {} +
  rm -rf "$CACHE/build/$flavour" "$source" "$CACHE/apt"
  touch "$prefix/complete"
}

# ensure_drogon <flavour>: sets DROGON_PREFIX.
ensure_drogon() {
  DROGON_PREFIX=$(drogon_prefix "$1")
  [ ! -f "$DROGON_PREFIX/complete" ] || return 0
  step "build Drogon ($1; some minutes, once per machine)" \
    "It needs Debian's source packages (suites testing or unstable) or upstream's git repository." \
    build_drogon "$1" "$DROGON_PREFIX"
}
