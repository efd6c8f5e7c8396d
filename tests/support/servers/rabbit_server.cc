#include "tests/support/servers/rabbit_server.h"

#include <amqp.h>
#include <amqp_tcp_socket.h>

#include <fstream>
#include <sstream>

namespace festa::test {

namespace {

// A connection of librabbitmq's with a channel, without the code under test.
class Session {
 public:
  explicit Session(int port) : state_(amqp_new_connection()) {
    const timeval patience{.tv_sec = 5, .tv_usec = 0};
    auto* const socket = amqp_tcp_socket_new(state_);
    amqp_set_handshake_timeout(state_, &patience);
    isOpen_ = amqp_socket_open_noblock(socket, "127.0.0.1", port, &patience) == AMQP_STATUS_OK &&
              amqp_login(state_, "/", 0, AMQP_DEFAULT_FRAME_SIZE, 0, AMQP_SASL_METHOD_PLAIN,
                         "guest", "guest")
                      .reply_type == AMQP_RESPONSE_NORMAL &&
              amqp_channel_open(state_, 1) != nullptr;
  }
  ~Session() {
    if (isOpen_) amqp_connection_close(state_, AMQP_REPLY_SUCCESS);
    amqp_destroy_connection(state_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool isOpen() const { return isOpen_; }
  amqp_connection_state_t state() const { return state_; }

 private:
  const amqp_connection_state_t state_;
  bool isOpen_ = false;
};

}  // namespace

void RabbitServer::kill() {
  server_.process().signal(SIGKILL);
  server_.process().wait();
}

bool RabbitServer::wouldFindAgain(const std::string& queue) const {
  const std::string node = "festabook@localhost";
  std::ostringstream names;
  names << std::ifstream(server_.folder() + "/mnesia/" + node + "/quorum/" + node + "/names.dets")
               .rdbuf();
  return names.str().find(queue) != std::string::npos;
}

std::int64_t RabbitServer::messages(const std::string& queue) const {
  const Session session(port());
  const auto* const declared =
      amqp_queue_declare(session.state(), 1, amqp_cstring_bytes(queue.c_str()), true, true, false,
                         false, amqp_empty_table);
  if (declared == nullptr) throw std::runtime_error("no queue " + queue);
  return declared->message_count;
}

void RabbitServer::put(const std::string& queue, const std::string& body) const {
  const Session session(port());
  amqp_confirm_select(session.state(), 1);
  amqp_basic_publish(session.state(), 1, amqp_empty_bytes, amqp_cstring_bytes(queue.c_str()), false,
                     false, nullptr, amqp_cstring_bytes(body.c_str()));
  amqp_frame_t confirm;
  amqp_simple_wait_frame(session.state(), &confirm);
}

RabbitServer& sharedRabbit() {
  static RabbitServer server;
  return server;
}

}  // namespace festa::test
