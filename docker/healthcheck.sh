#!/bin/bash
# healthcheck.sh [path]: 0 when the service in this container answers 200. With bash alone, so that the image needs no HTTP client.
exec 3<>"/dev/tcp/127.0.0.1/${FESTA_HTTP_PORT:-8080}" || exit 1
printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "${1:-/healthz}" >&3
read -r -t 3 _ status _ <&3
[ "$status" = 200 ]
