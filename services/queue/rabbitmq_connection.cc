#include "services/queue/rabbitmq_connection.h"

#include <amqp_tcp_socket.h>
#include <poll.h>

#include <array>
#include <mutex>
#include <string_view>

namespace festa::queue {

namespace {

// For entries that take their processes with them; tries are counted by the consumer. Fixed,
// because a queue cannot be declared again with another one.
constexpr int kBrokerLimit = 1000;
constexpr amqp_channel_t kChannel = 1;
constexpr auto kConsumer = "c";

amqp_bytes_t bytes(std::string_view text) {
  return {text.size(), const_cast<char*>(text.data())};
}

std::string text(amqp_bytes_t bytes) {
  return {static_cast<const char*>(bytes.bytes), bytes.len};
}

timeval toTimeval(Millis time) {
  return {.tv_sec = time.count() / 1000, .tv_usec = time.count() % 1000 * 1000};
}

void check(int status, const std::string& what) {
  if (status != AMQP_STATUS_OK) throw RabbitMqFailure(what + ": " + amqp_error_string2(status));
}

[[noreturn]] void failClosed(const amqp_method_t& method) {
  if (method.id == AMQP_CONNECTION_CLOSE_METHOD)
    throw RabbitMqFailure(
        "closed: " + text(static_cast<const amqp_connection_close_t*>(method.decoded)->reply_text));
  if (method.id == AMQP_CHANNEL_CLOSE_METHOD)
    throw RabbitMqFailure(
        "closed: " + text(static_cast<const amqp_channel_close_t*>(method.decoded)->reply_text));
  throw RabbitMqFailure(std::string("unexpected ") + amqp_method_name(method.id));
}

void check(const amqp_rpc_reply_t& reply, const std::string& what) {
  if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION) check(reply.library_error, what);
  if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION) failClosed(reply.reply);
}

// Refers to the value.
amqp_table_entry_t entry(const char* key, std::string_view value) {
  amqp_table_entry_t made{};
  made.key = amqp_cstring_bytes(key);
  made.value.kind = AMQP_FIELD_KIND_UTF8;
  made.value.value.bytes = bytes(value);
  return made;
}

amqp_table_entry_t entry(const char* key, std::int64_t value) {
  amqp_table_entry_t made{};
  made.key = amqp_cstring_bytes(key);
  made.value.kind = AMQP_FIELD_KIND_I64;
  made.value.value.i64 = value;
  return made;
}

amqp_table_entry_t flag(const char* key) {
  amqp_table_entry_t made{};
  made.key = amqp_cstring_bytes(key);
  made.value.kind = AMQP_FIELD_KIND_BOOLEAN;
  made.value.value.boolean = 1;
  return made;
}

std::int64_t number(const amqp_field_value_t& field) {
  switch (field.kind) {
    case AMQP_FIELD_KIND_I8: return field.value.i8;
    case AMQP_FIELD_KIND_I16: return field.value.i16;
    case AMQP_FIELD_KIND_I32: return field.value.i32;
    case AMQP_FIELD_KIND_I64: return field.value.i64;
    default: return 0;
  }
}

std::int64_t deliveryCount(const amqp_basic_properties_t& properties) {
  if ((properties._flags & AMQP_BASIC_HEADERS_FLAG) == 0) return 0;
  for (int i = 0; i < properties.headers.num_entries; ++i) {
    const auto& header = properties.headers.entries[i];
    if (text(header.key) == "x-delivery-count") return number(header.value);
  }
  return 0;
}

}  // namespace

RabbitMqConnection::RabbitMqConnection(const RabbitMqSettings& settings)
    : state_(amqp_new_connection()) {
  if (!state_) throw std::bad_alloc();
  connect(settings);
  declare(settings);
}

void RabbitMqConnection::connect(const RabbitMqSettings& settings) {
  const auto patience = toTimeval(settings.connectTimeout);
  auto* const socket = amqp_tcp_socket_new(state_.get());
  if (socket == nullptr) throw std::bad_alloc();
  check(amqp_socket_open_noblock(socket, settings.host.c_str(), settings.port, &patience),
        "connect");
  check(amqp_set_handshake_timeout(state_.get(), &patience), "handshake time-out");
  check(amqp_set_rpc_timeout(state_.get(), &patience), "answer time-out");
  check(amqp_login(state_.get(), settings.vhost.c_str(), AMQP_DEFAULT_MAX_CHANNELS,
                   AMQP_DEFAULT_FRAME_SIZE, static_cast<int>(settings.heartbeat.count()),
                   AMQP_SASL_METHOD_PLAIN, settings.user.c_str(), settings.password.c_str()),
        "login");
  amqp_channel_open(state_.get(), kChannel);
  check(amqp_get_rpc_reply(state_.get()), "open a channel");
  amqp_confirm_select(state_.get(), kChannel);
  check(amqp_get_rpc_reply(state_.get()), "confirm mode");
}

void RabbitMqConnection::declare(const RabbitMqSettings& settings) {
  const RabbitMqNames names(settings.prefix);
  std::array dead{entry("x-queue-type", "quorum")};
  std::array waiting{entry("x-queue-type", "quorum"), flag("x-single-active-consumer"),
                     entry("x-dead-letter-exchange", ""),
                     entry("x-dead-letter-routing-key", names.dead)};
  std::array work{entry("x-queue-type", "quorum"), entry("x-delivery-limit", kBrokerLimit),
                  entry("x-dead-letter-exchange", ""),
                  entry("x-dead-letter-routing-key", names.dead)};
  const auto table = [](auto& entries) {
    return amqp_table_t{static_cast<int>(entries.size()), entries.data()};
  };
  // RabbitMQ 3.10 fails with an internal error where two declare the same new queue at once.
  static std::mutex oneAtATime;
  const std::lock_guard guard(oneAtATime);
  declareQueue(names.dead, table(dead));
  declareQueue(names.waiting, table(waiting));
  declareQueue(names.work, table(work));
}

void RabbitMqConnection::declareQueue(const std::string& name, amqp_table_t arguments) {
  amqp_queue_declare(state_.get(), kChannel, bytes(name), false, true, false, false, arguments);
  check(amqp_get_rpc_reply(state_.get()), "declare " + name);
}

void RabbitMqConnection::consume(const std::string& queue, int prefetch) {
  amqp_basic_qos(state_.get(), kChannel, 0, static_cast<std::uint16_t>(prefetch), false);
  check(amqp_get_rpc_reply(state_.get()), "prefetch");
  amqp_basic_consume(state_.get(), kChannel, bytes(queue), amqp_cstring_bytes(kConsumer), false,
                     false, false, amqp_empty_table);
  check(amqp_get_rpc_reply(state_.get()), "consume " + queue);
}

void RabbitMqConnection::cancel() {
  amqp_basic_cancel_t method{amqp_cstring_bytes(kConsumer), true};
  check(amqp_send_method(state_.get(), kChannel, AMQP_BASIC_CANCEL_METHOD, &method), "cancel");
}

void RabbitMqConnection::ack(std::uint64_t tag) {
  check(amqp_basic_ack(state_.get(), kChannel, tag, false), "ack");
}

void RabbitMqConnection::reject(std::uint64_t tag, bool requeue) {
  check(amqp_basic_reject(state_.get(), kChannel, tag, requeue), "reject");
}

void RabbitMqConnection::publish(const std::string& queue, const std::string& body) {
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_DELIVERY_MODE_FLAG;
  properties.delivery_mode = AMQP_DELIVERY_PERSISTENT;
  ++published_;
  // Mandatory: without its queue a message would be confirmed and lost.
  check(amqp_basic_publish(state_.get(), kChannel, amqp_empty_bytes, bytes(queue), true, false,
                           &properties, bytes(body)),
        "publish");
}

void RabbitMqConnection::askLength(const std::string& queue) {
  amqp_queue_declare_t method{};
  method.queue = bytes(queue);
  method.passive = true;
  // Not the library's own call, which would wait for the answer.
  check(amqp_send_method(state_.get(), kChannel, AMQP_QUEUE_DECLARE_METHOD, &method), "length");
}

std::optional<RabbitMqEvent> RabbitMqConnection::next() {
  while (true) {
    amqp_maybe_release_buffers(state_.get());
    amqp_frame_t frame{};
    const timeval now{};
    const int status = amqp_simple_wait_frame_noblock(state_.get(), &frame, &now);
    if (status == AMQP_STATUS_TIMEOUT) return std::nullopt;
    check(status, "receive");
    auto event = read(frame);
    if (event) return event;
  }
}

std::optional<RabbitMqEvent> RabbitMqConnection::read(const amqp_frame_t& frame) {
  if (frame.frame_type == AMQP_FRAME_METHOD) return readMethod(frame.payload.method);
  if (!partial_) return std::nullopt;
  if (frame.frame_type == AMQP_FRAME_HEADER) {
    missing_ = frame.payload.properties.body_size;
    partial_->earlier = deliveryCount(
        *static_cast<const amqp_basic_properties_t*>(frame.payload.properties.decoded));
  } else if (frame.frame_type == AMQP_FRAME_BODY) {
    partial_->body += text(frame.payload.body_fragment);
    missing_ -= frame.payload.body_fragment.len;
  }
  return missing_ == 0 ? finishedDelivery() : std::nullopt;
}

std::optional<RabbitMqEvent> RabbitMqConnection::readMethod(const amqp_method_t& method) {
  switch (method.id) {
    case AMQP_BASIC_DELIVER_METHOD: {
      const auto* deliver = static_cast<const amqp_basic_deliver_t*>(method.decoded);
      partial_ =
          RabbitMqDelivery{.tag = deliver->delivery_tag, .redelivered = deliver->redelivered != 0};
      return std::nullopt;
    }
    case AMQP_BASIC_ACK_METHOD: {
      const auto* ack = static_cast<const amqp_basic_ack_t*>(method.decoded);
      return RabbitMqConfirm{ack->delivery_tag, ack->multiple != 0, true};
    }
    case AMQP_BASIC_NACK_METHOD: {
      const auto* nack = static_cast<const amqp_basic_nack_t*>(method.decoded);
      return RabbitMqConfirm{nack->delivery_tag, nack->multiple != 0, false};
    }
    case AMQP_QUEUE_DECLARE_OK_METHOD:
      return RabbitMqLength{
          static_cast<const amqp_queue_declare_ok_t*>(method.decoded)->message_count};
    // The broker is short of memory or disk and sends no confirms. RabbitMqPublisher notices by its
    // time-out.
    case AMQP_CONNECTION_BLOCKED_METHOD:
    case AMQP_CONNECTION_UNBLOCKED_METHOD: return std::nullopt;
    default: failClosed(method);
  }
}

std::optional<RabbitMqEvent> RabbitMqConnection::finishedDelivery() {
  RabbitMqEvent event(std::move(*partial_));
  partial_.reset();
  return event;
}

void RabbitMqConnection::wait(const WakeUp& wake, SteadyTime until) const {
  if (amqp_frames_enqueued(state_.get()) || amqp_data_in_buffer(state_.get())) return;
  const auto left = std::chrono::ceil<Millis>(until - SteadyClock::now());
  std::array<pollfd, 2> sources{pollfd{amqp_get_sockfd(state_.get()), POLLIN, 0},
                                pollfd{wake.fd(), POLLIN, 0}};
  if (left > Millis{0}) poll(sources.data(), sources.size(), static_cast<int>(left.count()));
}

void RabbitMqConnection::close() {
  check(amqp_channel_close(state_.get(), kChannel, AMQP_REPLY_SUCCESS), "close the channel");
  check(amqp_connection_close(state_.get(), AMQP_REPLY_SUCCESS), "close");
}

}  // namespace festa::queue
