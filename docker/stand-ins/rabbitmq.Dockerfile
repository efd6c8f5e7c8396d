# Stands in for rabbitmq:3.10 in ./dev compose test.
FROM debian:bookworm-slim
RUN --mount=type=secret,id=apt,target=/etc/apt/apt.conf.d/99build \
    export DEBIAN_FRONTEND=noninteractive \
    && groupadd -r -g 999 rabbitmq && useradd -r -u 999 -g 999 -d /var/lib/rabbitmq rabbitmq \
    && printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d \
    && apt-get -q update && apt-get -q -y --no-install-recommends install rabbitmq-server && rm -rf /var/lib/apt/lists/* \
    && rm -rf /var/lib/rabbitmq/.erlang.cookie /var/lib/rabbitmq/mnesia \
    && install -d -o rabbitmq -g rabbitmq /var/lib/rabbitmq
# As under systemd it is the first process itself, which gets SIGTERM.
ENV RABBITMQ_LOGS=- RUNNING_UNDER_SYSTEMD=true
VOLUME /var/lib/rabbitmq
CMD ["/usr/lib/rabbitmq/bin/rabbitmq-server"]
