#include "controllers/live/event_sink.h"

#include <functional>
#include <mutex>
#include <type_traits>
#include <utility>

namespace festa {

namespace {

struct Shared {
  std::mutex mutex;
  std::unique_ptr<EventSink> sink;  // guarded by mutex; null: the stream has ended
};

class End : public EventSink {
 public:
  explicit End(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  ~End() override {
    std::unique_ptr<EventSink> ended;  // outside the lock
    const std::lock_guard guard(shared_->mutex);
    ended.swap(shared_->sink);
  }
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  bool send(const std::string& events) override { return ask(&EventSink::send, events); }
  bool isConnected() const override { return ask(&EventSink::isConnected); }
  bool isBehind() const override { return ask(&EventSink::isBehind); }
  bool takesPages() const override { return ask(&EventSink::takesPages); }
  double shareOfAddress() const override { return ask(&EventSink::shareOfAddress); }

 private:
  // False or 0 when the stream has ended.
  template <class Question, class... Arguments>
  std::invoke_result_t<Question, EventSink&, const Arguments&...> ask(
      Question question, const Arguments&... arguments) const {
    const std::lock_guard guard(shared_->mutex);
    if (!shared_->sink) return {};
    return std::invoke(question, *shared_->sink, arguments...);
  }

  const std::shared_ptr<Shared> shared_;
};

}  // namespace

SharedSink::SharedSink(std::unique_ptr<EventSink> sink) {
  const auto shared = std::make_shared<Shared>();
  shared->sink = std::move(sink);
  first = std::make_unique<End>(shared);
  second = std::make_unique<End>(shared);
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
