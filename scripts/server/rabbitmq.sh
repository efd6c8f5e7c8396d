# A RabbitMQ that shares nothing with the machine's own; what its queues hold stays in the folder. Its user is guest, as is the
# password.

prepare() {
  local distribution names
  [ -z "$fresh" ] || rm -rf "$folder"
  mkdir -p "$folder/home"
  printf '[].\n' >"$folder/enabled_plugins"
  free_port && distribution=$free
  free_port && names=$free
  # One that the broker starts itself would outlive it; this one ends with the broker, which this process becomes.
  setpriv --pdeathsig KILL epmd -port "$names" -address 127.0.0.1 9>&- &
  environment+=(HOME="$folder/home" RABBITMQ_MNESIA_BASE="$folder/mnesia" RABBITMQ_LOG_BASE="$folder/log"
    RABBITMQ_PID_FILE="$folder/pid" RABBITMQ_ENABLED_PLUGINS_FILE="$folder/enabled_plugins"
    RABBITMQ_CONFIG_FILE="$folder/rabbitmq" RABBITMQ_ADVANCED_CONFIG_FILE="$folder/advanced" RABBITMQ_CONF_ENV_FILE=/dev/null
    RABBITMQ_NODENAME=festabook@localhost RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT="$port"
    RABBITMQ_DIST_PORT="$distribution" ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT="$names"
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}'
    # As under systemd it takes this process instead of a child of it, which a kill would leave behind.
    RUNNING_UNDER_SYSTEMD=true)
  until listens "$names"; do
    kill -0 $! || return 1
    sleep 0.01
  done
  # Not the one in /usr/sbin, which changes the user.
  command=(/usr/lib/rabbitmq/bin/rabbitmq-server)
  words=(FESTA_RABBITMQ_HOST=127.0.0.1 "FESTA_RABBITMQ_PORT=$port")
}

# It listens when everything else has started, and begins a connection with a frame of type 1.
answers() { talk 'AMQP\x00\x00\x09\x01' "$port" && [[ $answer == $'\x01'* ]]; }
