#include "app/operations/metrics_page.h"

#include "services/error.h"

#include <coroutine>
#include <utility>

namespace festa {

namespace {

constexpr std::chrono::seconds kServedFor{1};

}  // namespace

// One request that asks for the text. Lives in the frame of its coroutine, which is resumed on the
// loop on which it asked, so that the end cannot overtake the suspension.
class MetricsPage::Turn {
 public:
  explicit Turn(MetricsPage& page) : page_(page) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Once. On any thread, if it waits.
  void tell(const Rendering& rendering) { rendering_ = rendering; }
  void resume() const {
    loop_->queueInLoop([handle = handle_] { handle.resume(); });
  }

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) {
    handle_ = handle;
    return !page_.joinOr(*this);
  }
  std::string await_resume() {
    if (rendering_.error) std::rethrow_exception(rendering_.error);
    return std::move(rendering_.text);
  }

 private:
  MetricsPage& page_;
  trantor::EventLoop* const loop_ = trantor::EventLoop::getEventLoopOfCurrentThread();
  std::coroutine_handle<> handle_;
  Rendering rendering_;
};

MetricsPage::MetricsPage(const MetricsText& metrics, const TimeSource& time)
    : metrics_(metrics),
      time_(time),
      thread_(std::make_unique<trantor::EventLoopThread>("metrics")) {
  thread_->run();
}

MetricsPage::~MetricsPage() {
  if (thread_) stop();
}

drogon::Task<std::string> MetricsPage::text() {
  Turn turn(*this);
  co_return co_await turn;
}

bool MetricsPage::joinOr(Turn& turn) {
  const std::lock_guard guard(mutex_);
  if (stopped_) throw ServiceError(ErrorCode::kShuttingDown);
  const bool isKnown = last_ && time_.now() - lastAt_ < kServedFor;
  if (isKnown) {
    turn.tell(*last_);
    return true;
  }
  waiting_.push_back(&turn);
  if (waiting_.size() == 1) thread_->getLoop()->queueInLoop([this] { renderOnce(); });
  return false;
}

void MetricsPage::renderOnce() {
  Rendering rendering;
  try {
    rendering.text = metrics_.render();
  } catch (...) {
    rendering.error = std::current_exception();
  }
  tellAll(rendering);
}

void MetricsPage::tellAll(const Rendering& rendering) {
  std::vector<Turn*> waiting;
  {
    const std::lock_guard guard(mutex_);
    last_ = rendering;
    lastAt_ = time_.now();
    waiting.swap(waiting_);
  }
  for (auto* const turn : waiting) {
    turn->tell(rendering);
    turn->resume();
  }
}

void MetricsPage::stop() {
  {
    const std::lock_guard guard(mutex_);
    stopped_ = true;
  }
  thread_.reset();
  // What was asked for too late to be rendered.
  tellAll({"", std::make_exception_ptr(ServiceError(ErrorCode::kShuttingDown))});
}

}  // namespace festa
