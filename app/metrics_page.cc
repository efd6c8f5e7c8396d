#include "app/metrics_page.h"

#include "services/error.h"

#include <coroutine>
#include <utility>

namespace festa {

namespace {

constexpr std::chrono::seconds kServedFor{1};

}  // namespace

// One request that waits for a rendering. Made on the loop on which its coroutine suspends and is
// resumed, so that the end cannot overtake the suspension.
class MetricsPage::Waiter : public std::enable_shared_from_this<Waiter> {
 public:
  Waiter() : loop_(trantor::EventLoop::getEventLoopOfCurrentThread()) {}

  // Once, on any thread.
  void finish(Rendering rendering) {
    rendering_ = std::move(rendering);
    loop_->queueInLoop([self = shared_from_this()] { self->handle_.resume(); });
  }

  // What the coroutine awaits. Refers to the waiter instead of being it: GCC 12 copies an awaited
  // lvalue.
  class Turn {
   public:
    explicit Turn(std::shared_ptr<Waiter> waiter) : waiter_(std::move(waiter)) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const noexcept { waiter_->handle_ = handle; }
    Text await_resume() const { return waiter_->rendering_.get(); }

   private:
    const std::shared_ptr<Waiter> waiter_;
  };

 private:
  trantor::EventLoop* const loop_;
  std::coroutine_handle<> handle_;
  Rendering rendering_;
};

MetricsPage::Text MetricsPage::Rendering::get() const {
  if (error) std::rethrow_exception(error);
  return text;
}

MetricsPage::MetricsPage(const MetricsText& metrics, const TimeSource& time)
    : metrics_(metrics),
      time_(time),
      thread_(std::make_unique<trantor::EventLoopThread>("metrics")) {
  thread_->run();
}

MetricsPage::~MetricsPage() {
  if (thread_) stop();
}

drogon::Task<MetricsPage::Text> MetricsPage::text() {
  const auto waiter = std::make_shared<Waiter>();
  const auto known = joinOr(waiter);
  if (known) co_return known->get();
  Waiter::Turn turn(waiter);
  auto text = co_await turn;
  co_return text;
}

std::optional<MetricsPage::Rendering> MetricsPage::joinOr(const std::shared_ptr<Waiter>& waiter) {
  const std::lock_guard guard(mutex_);
  if (stopped_) throw ServiceError(ErrorCode::kShuttingDown);
  if (last_ && time_.now() - lastAt_ < kServedFor) return last_;
  waiting_.push_back(waiter);
  if (waiting_.size() == 1) thread_->getLoop()->queueInLoop([this] { renderOnce(); });
  return std::nullopt;
}

void MetricsPage::renderOnce() {
  Rendering rendering;
  try {
    rendering.text = std::make_shared<const std::string>(metrics_.render());
  } catch (...) {
    rendering.error = std::current_exception();
  }
  tellAll(rendering);
}

void MetricsPage::tellAll(const Rendering& rendering) {
  std::vector<std::shared_ptr<Waiter>> waiting;
  {
    const std::lock_guard guard(mutex_);
    last_ = rendering;
    lastAt_ = time_.now();
    waiting.swap(waiting_);
  }
  for (const auto& waiter : waiting) waiter->finish(rendering);
}

void MetricsPage::stop() {
  {
    const std::lock_guard guard(mutex_);
    stopped_ = true;
  }
  thread_.reset();
  // What was asked for too late to be rendered.
  tellAll({nullptr, std::make_exception_ptr(ServiceError(ErrorCode::kShuttingDown))});
}

}  // namespace festa
