#!/bin/sh
# rabbitmq-broker.sh <folder> <port> <distribution port> <epmd port>: becomes a RabbitMQ on 127.0.0.1 whose data, logs and cookie
# are in the folder and which shares nothing with the machine's own. An epmd listens on its port already: one that the broker
# starts itself would outlive it.
set -eu
folder=$1
mkdir -p "$folder/home"
printf '[].\n' >"$folder/enabled_plugins"
export HOME="$folder/home" RABBITMQ_MNESIA_BASE="$folder/mnesia" RABBITMQ_LOG_BASE="$folder/log" \
  RABBITMQ_PID_FILE="$folder/pid" RABBITMQ_ENABLED_PLUGINS_FILE="$folder/enabled_plugins" \
  RABBITMQ_CONFIG_FILE="$folder/rabbitmq" RABBITMQ_ADVANCED_CONFIG_FILE="$folder/advanced" RABBITMQ_CONF_ENV_FILE=/dev/null \
  RABBITMQ_NODENAME=festabook@localhost RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT="$2" RABBITMQ_DIST_PORT="$3" \
  ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT="$4"
export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}'
# As under systemd it takes this process instead of a child of it, which a kill would leave behind. Not the one in /usr/sbin,
# which changes the user.
export RUNNING_UNDER_SYSTEMD=true
exec /usr/lib/rabbitmq/bin/rabbitmq-server
