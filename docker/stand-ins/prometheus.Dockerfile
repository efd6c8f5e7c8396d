# Stands in for prom/prometheus:v2.42.0 in ./dev compose test.
FROM debian:bookworm-slim
RUN --mount=type=secret,id=apt,target=/etc/apt/apt.conf.d/99build \
    export DEBIAN_FRONTEND=noninteractive \
    && apt-get -q update && apt-get -q -y --no-install-recommends install prometheus wget && rm -rf /var/lib/apt/lists/* \
    && install -d -o nobody -g nogroup /prometheus
USER nobody
WORKDIR /prometheus
VOLUME /prometheus
ENTRYPOINT ["prometheus"]
