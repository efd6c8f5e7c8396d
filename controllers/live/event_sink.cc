#include "controllers/live/event_sink.h"

#include <mutex>
#include <utility>

namespace festa {

namespace {

// Thread-safe.
class Stream {
 public:
  explicit Stream(std::unique_ptr<EventSink> sink) : sink_(std::move(sink)) {}

  bool send(const std::string& events) {
    const std::lock_guard guard(mutex_);
    return sink_ && sink_->send(events);
  }
  bool isConnected() {
    const std::lock_guard guard(mutex_);
    return sink_ && sink_->isConnected();
  }
  bool isBehind() {
    const std::lock_guard guard(mutex_);
    return sink_ && sink_->isBehind();
  }
  bool takesPages() {
    const std::lock_guard guard(mutex_);
    return sink_ && sink_->takesPages();
  }
  double shareOfAddress() {
    const std::lock_guard guard(mutex_);
    return sink_ ? sink_->shareOfAddress() : 0;
  }
  void end() {
    std::unique_ptr<EventSink> ended;
    const std::lock_guard guard(mutex_);
    ended.swap(sink_);
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<EventSink> sink_;  // guarded by mutex_; null: it has ended
};

class End : public EventSink {
 public:
  explicit End(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}
  ~End() override { stream_->end(); }
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  bool send(const std::string& events) override { return stream_->send(events); }
  bool isConnected() const override { return stream_->isConnected(); }
  bool isBehind() const override { return stream_->isBehind(); }
  bool takesPages() const override { return stream_->takesPages(); }
  double shareOfAddress() const override { return stream_->shareOfAddress(); }

 private:
  const std::shared_ptr<Stream> stream_;
};

}  // namespace

SharedSink::SharedSink(std::unique_ptr<EventSink> sink) {
  const auto stream = std::make_shared<Stream>(std::move(sink));
  first = std::make_unique<End>(stream);
  second = std::make_unique<End>(stream);
}

std::string eventText(const EventFields& fields) {
  std::string text;
  const auto add = [&text](std::string_view name, std::string_view value) {
    if (!value.empty()) text.append(name).append(": ").append(value).append("\n");
  };
  add("id", fields.id);
  add("event", fields.event);
  add("data", fields.data);
  text += '\n';
  return text;
}

}  // namespace festa
