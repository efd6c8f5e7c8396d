#!/usr/bin/env bash
# Which source of Drogon scripts/drogon.sh takes, with small stand-ins for the sources.
# usage: drogon_test.sh <checkout>
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export FESTA_RUN_DIR=$folder/run FESTA_CACHE_DIR=$folder/cache
. "$1/scripts/lib.sh"
. "$1/scripts/drogon.sh"
passed=0

fail() { echo "FAILED: $*" >&2; cat "$folder/out" >&2; exit 1; }

# Two patches, to lines that are far from each other.
mkdir -p "$folder/patches"
cat >"$folder/patches/drogon-mend.patch" <<'PATCH'
--- a/source
+++ b/source
@@ -1,2 +1,2 @@
-broken
+mended
 second
PATCH
sed 's/broken/slow/; s/mended/quick/' "$folder/patches/drogon-mend.patch" >"$folder/patches/trantor-mend.patch"
DROGON_PATCHES="$folder/patches/drogon-*.patch $folder/patches/trantor-*.patch"

# fetch_standin <first line of drogon/source> <of trantor/source> <folder>
fetch_standin() {
  mkdir "$3/drogon" "$3/trantor"
  printf '%s\nsecond\n' "$1" >"$3/drogon/source"
  printf '%s\nsecond\n' "$2" >"$3/trantor/source"
}
fetch_nothing() { return 1; }

WANTED="$DROGON_MINIMUM $TRANTOR_MINIMUM"
offer_exact() { say "$WANTED fetch_standin broken slow"; }
offer_newer() { say "9.9.9 9.9.9 fetch_standin broken slow"; }
offer_contained() { say "$WANTED fetch_standin mended slow"; }
offer_changed() { say "$WANTED fetch_standin broken rewritten"; }
offer_unreachable() { say "$WANTED fetch_nothing"; }
offer_older() { say "1.0.0 $TRANTOR_MINIMUM fetch_standin broken slow"; }
offer_nothing() { return 1; }

# takes <what was taken> <offers…>: the version of the offer, or "none".
takes() {
  local expected=$1 taken=none
  shift
  DROGON_OFFERS=("$@")
  if fetch_drogon "$folder/source" >"$folder/out" 2>&1; then
    taken=$(grep '^Drogon ' "$folder/out" | tail -n 1 | cut -d' ' -f2)
    [ "$(head -qn 1 "$folder"/source/*/source | tr '\n' ' ')" = "mended quick " ] || fail "$*: not patched"
  elif [ -e "$folder/source" ]; then
    fail "$*: unusable sources are left"
  fi
  [ "$taken" = "$expected" ] || fail "$*: $taken was taken instead of $expected"
  passed=$((passed + 1))
}

takes "$DROGON_MINIMUM" offer_exact
takes "$DROGON_MINIMUM" offer_newer offer_exact
takes 9.9.9 offer_newer offer_nothing
takes 9.9.9 offer_unreachable offer_newer
takes "$DROGON_MINIMUM" offer_contained
takes 9.9.9 offer_changed offer_newer
takes none offer_changed
takes none offer_older
takes none offer_nothing

# If none is left, the build stops and says so.
DROGON_OFFERS=(offer_changed)
if (ensure_drogon release) >"$folder/out" 2>&1; then fail "it was built of unusable sources"; fi
grep -q "trantor-mend.patch does not apply" "$folder/out" || fail "it does not say which patch"
grep -q "gave a Drogon >= $DROGON_MINIMUM that takes our patches" "$folder/out" || fail "it does not say that none is left"
passed=$((passed + 1))
echo "$passed passed, 0 failed"
