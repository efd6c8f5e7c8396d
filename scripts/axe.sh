# axe-core, which looks for what keeps people from using a page; for ./dev test. Sourced after lib.sh.
AXE_VERSION=4.10.2
AXE_SHA256=9ea2d2d6917da998122bdacfd3b473e31ead53f4b87146c716a12edf89158100

fetch_axe() {
  local package=$1.tgz
  curl -fsSL -o "$package" "https://registry.npmjs.org/axe-core/-/axe-core-$AXE_VERSION.tgz"
  echo "$AXE_SHA256  $package" | sha256sum --check --quiet
  tar -xzf "$package" -O package/axe.min.js >"$1.new"
  # Named when it is complete.
  mv "$1.new" "$1"
  rm "$package"
}

# ensure_axe: sets AXE.
ensure_axe() {
  export AXE=$CACHE/axe-$AXE_VERSION.js
  [ -f "$AXE" ] || step "fetch axe-core $AXE_VERSION" "It comes from the registry of npm." fetch_axe "$AXE"
}
