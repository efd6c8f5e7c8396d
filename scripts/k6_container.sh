#!/usr/bin/env bash
# k6 out of its container image, for machines that have neither it nor Go: sees this checkout, the loopback of the
# machine, and writes as the user who calls it. K6_IMAGE: the image.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
exec docker run --rm --init --network host --user "$(id -u):$(id -g)" --volume "$root:$root" \
  ${FESTA_RUN_DIR:+--volume "$FESTA_RUN_DIR:$FESTA_RUN_DIR"} --workdir "$root" \
  "$K6_IMAGE" "$@"
