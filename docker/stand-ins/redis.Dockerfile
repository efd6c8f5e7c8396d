# Stands in for redis:7.0-bookworm in ./dev compose test.
FROM debian:bookworm-slim
RUN --mount=type=secret,id=apt,target=/etc/apt/apt.conf.d/99build \
    export DEBIAN_FRONTEND=noninteractive \
    && groupadd -r -g 999 redis && useradd -r -u 999 -g 999 -d /data redis \
    && apt-get -q update && apt-get -q -y --no-install-recommends install redis-server && rm -rf /var/lib/apt/lists/* \
    && install -d -o redis -g redis /data
VOLUME /data
WORKDIR /data
CMD ["redis-server"]
