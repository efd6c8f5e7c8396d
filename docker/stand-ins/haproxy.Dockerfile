# Stands in for haproxy:2.6-bookworm in ./dev compose test. Like the official one it runs master and worker in the foreground.
FROM debian:bookworm-slim
RUN --mount=type=secret,id=apt,target=/etc/apt/apt.conf.d/99build \
    export DEBIAN_FRONTEND=noninteractive \
    && apt-get -q update && apt-get -q -y --no-install-recommends install haproxy && rm -rf /var/lib/apt/lists/*
USER 99:99
STOPSIGNAL SIGUSR1
ENTRYPOINT ["/bin/sh", "-c", "shift; exec haproxy -W -db \"$@\"", "entry"]
CMD ["haproxy", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
