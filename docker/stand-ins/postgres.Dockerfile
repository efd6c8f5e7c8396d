# Stands in for postgres:15-bookworm in ./dev compose test: Debian's package, the official image's user, folder and first start.
FROM debian:bookworm-slim
RUN --mount=type=secret,id=apt,target=/etc/apt/apt.conf.d/99build \
    export DEBIAN_FRONTEND=noninteractive \
    && groupadd -r -g 999 postgres && useradd -r -u 999 -g 999 -d /var/lib/postgresql postgres \
    && apt-get -q update && apt-get -q -y --no-install-recommends install postgresql-common \
    && echo 'create_main_cluster = false' >>/etc/postgresql-common/createcluster.conf \
    && apt-get -q -y --no-install-recommends install postgresql-15 && rm -rf /var/lib/apt/lists/* \
    && install -d -o postgres -g postgres /var/lib/postgresql/data /docker-entrypoint-initdb.d
ENV PATH=/usr/lib/postgresql/15/bin:/usr/local/bin:/usr/bin:/bin PGDATA=/var/lib/postgresql/data
COPY postgres.sh /usr/local/bin/entry
VOLUME /var/lib/postgresql/data
ENTRYPOINT ["entry"]
CMD ["postgres"]
