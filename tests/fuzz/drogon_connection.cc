#include "tests/fuzz/drogon_connection.h"

#include <HttpServer.h>
#include <drogon/HttpAppFramework.h>
#include <trantor/net/TcpConnection.h>
#include <trantor/utils/Logger.h>

namespace festa::test {

namespace {

using trantor::MsgBuffer;
using trantor::TcpConnectionPtr;

using ConnectionCallback = void (*)(const TcpConnectionPtr&);
using MessageCallback = void (*)(const TcpConnectionPtr&, MsgBuffer*);

ConnectionCallback onConnectionOfServer();
MessageCallback onMessageOfServer();

// The server's callbacks are private; an explicit instantiation may name them all the same.
template <ConnectionCallback onConnection, MessageCallback onMessage>
struct ServerCallbacks {
  friend ConnectionCallback onConnectionOfServer() { return onConnection; }
  friend MessageCallback onMessageOfServer() { return onMessage; }
};
template struct ServerCallbacks<&drogon::HttpServer::onConnection, &drogon::HttpServer::onMessage>;

trantor::EventLoop& loop() {
  return *drogon::app().getLoop();
}

std::size_t occurrences(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

// What the server sees of a socket. Closing changes the state only, like that of a real connection.
class DrogonConnection::Wire : public trantor::TcpConnection {
 public:
  void send(const char* text, size_t length) override { sent.append(text, length); }
  void send(const void* text, size_t length) override {
    sent.append(static_cast<const char*>(text), length);
  }
  void send(const std::string& text) override { sent += text; }
  void send(std::string&& text) override { sent += text; }
  void send(const MsgBuffer& buffer) override {
    sent.append(buffer.peek(), buffer.readableBytes());
  }
  void send(MsgBuffer&& buffer) override { sent.append(buffer.peek(), buffer.readableBytes()); }
  void send(const std::shared_ptr<std::string>& text) override { sent += *text; }
  void send(const std::shared_ptr<MsgBuffer>& buffer) override { send(*buffer); }
  void sendFile(const char*, long long, long long) override {}
  void sendFile(const wchar_t*, long long, long long) override {}
  void sendStream(std::function<std::size_t(char*, std::size_t)>) override {}
  trantor::AsyncStreamPtr sendAsyncStream(bool) override { return nullptr; }
  const trantor::InetAddress& localAddr() const override { return address_; }
  const trantor::InetAddress& peerAddr() const override { return address_; }
  bool connected() const override { return state_ == State::kConnected; }
  bool disconnected() const override { return state_ == State::kDisconnected; }
  void setHighWaterMarkCallback(const trantor::HighWaterMarkCallback&, size_t) override {}
  void setTcpNoDelay(bool) override {}
  void pauseReading() override { isPaused = true; }
  void resumeReading() override { isPaused = false; }
  void shutdown() override {
    if (state_ == State::kConnected) state_ = State::kShutDown;
  }
  void forceClose() override { state_ = State::kDisconnected; }
  trantor::EventLoop* getLoop() override { return &loop(); }
  std::string applicationProtocol() const override { return {}; }
  void keepAlive() override {}
  bool isKeepAlive() override { return true; }
  size_t bytesSent() const override { return sent.size(); }
  size_t bytesReceived() const override { return 0; }
  bool isSSLConnection() const override { return false; }
  MsgBuffer* getRecvBuffer() override { return &received; }
  trantor::CertificatePtr peerCertificate() const override { return nullptr; }
  std::string sniName() const override { return {}; }
  void startEncryption(trantor::TLSPolicyPtr, bool,
                       std::function<void(const TcpConnectionPtr&)>) override {}
  void connectEstablished() override {}
  void connectDestroyed() override {}
  void enableKickingOff(size_t, const std::shared_ptr<trantor::TimingWheel>&) override {}
  void forwardToTLSBuffer(MsgBuffer*) override {}

  // The client sends nothing more; as TcpConnectionImpl does when it reads the end.
  static void endInput(const std::shared_ptr<Wire>& wire) {
    if (wire->connected() && !wire->endOfInputCallback_(wire)) wire->forceClose();
  }

  std::string sent;
  MsgBuffer received;
  bool isPaused = false;

 private:
  enum class State { kConnected, kShutDown, kDisconnected };
  State state_ = State::kConnected;
  trantor::InetAddress address_;
};

DrogonConnection* DrogonConnection::current = nullptr;

void DrogonConnection::prepareServer() {
  trantor::Logger::setOutputFunction([](const char*, uint64_t) {}, [] {});
  drogon::HttpLimits limits;
  limits.pipelinedRequests = 16;
  drogon::app()
      .setClientMaxBodySize(kMaxBody)
      .setClientMaxMemoryBodySize(kMaxBody)
      .setHttpLimits(limits)
      .setCustomErrorHandler([](drogon::HttpStatusCode status, const drogon::HttpRequestPtr&) {
        current->refusal_ = status;
        auto answer = drogon::HttpResponse::newHttpResponse();
        answer->setStatusCode(status);
        return answer;
      })
      .registerSyncAdvice([](const drogon::HttpRequestPtr& request) {
        ReadRequest read;
        read.isHttp11 = request->version() == drogon::Version::kHttp11;
        read.body = std::string(request->body());
        if (request->method() != drogon::Invalid)
          read.method = request->isHead() ? "HEAD" : request->methodString();
        read.target = request->getOriginalPath();
        if (!request->query().empty()) read.target += '?' + request->query();
        current->requests_.push_back(std::move(read));
        return drogon::HttpResponse::newHttpResponse();
      });
}

DrogonConnection::DrogonConnection() : wire_(std::make_shared<Wire>()) {
  [[maybe_unused]] static const bool isPrepared = (prepareServer(), true);
  onConnectionOfServer()(wire_);
}

DrogonConnection::~DrogonConnection() {
  wire_->forceClose();
  onConnectionOfServer()(wire_);
}

void DrogonConnection::receive(std::string_view piece) {
  current = this;
  wire_->received.append(piece.data(), piece.size());
  // A paused connection leaves its bytes in the kernel. The server resumes it in a later turn of
  // its loop.
  if (!wire_->isPaused) onMessageOfServer()(wire_, &wire_->received);
  for (auto left = wire_->received.readableBytes() + 1; wire_->isPaused && left > 0;) {
    loop().queueInLoop([] { loop().quit(); });
    loop().loop();
    if (wire_->received.readableBytes() >= left) break;
    left = wire_->received.readableBytes();
  }
  current = nullptr;
}

void DrogonConnection::endInput() {
  Wire::endInput(wire_);
}

bool DrogonConnection::isOpen() const {
  return wire_->connected();
}

std::size_t DrogonConnection::answers() const {
  return occurrences(wire_->sent, "HTTP/1.") - occurrences(wire_->sent, "HTTP/1.1 100 ");
}

}  // namespace festa::test
