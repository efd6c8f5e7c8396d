#include "app/operations/metrics_page.h"

#include "services/error.h"
#include "tests/support/loops.h"
#include "tests/support/test_time.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace festa::test {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A page of metrics one of which counts its readings, and can be held up; and a clock that stands
// still.
class MetricsPageTest : public testing::Test {
 protected:
  ~MetricsPageTest() override { letGo(); }

  MetricsPageTest() {
    metrics_.addGauge("festa_test", "Help.", [this] { return count(); });
  }
  double count() {
    thread_ = std::this_thread::get_id();
    const int count = ++renderings_;
    held_.wait(true);
    if (fails_) throw std::runtime_error("it cannot be read");
    return count;
  }
  void hold() { held_ = true; }
  void letGo() {
    held_ = false;
    held_.notify_all();
  }
  void pass(milliseconds time) { now_ += time.count(); }

  struct Seen {
    std::string text;
    trantor::EventLoop* loop;  // on which it was had
  };
  std::future<Seen> ask(std::size_t loop = 0) {
    return startOn(loops_.at(loop), [this]() -> drogon::Task<Seen> {
      const auto reading = co_await page_.read();
      const std::string name = "\nfesta_test ";
      const auto at = reading->text.find(name) + name.size();
      co_return Seen{reading->text.substr(at, reading->text.find('\n', at) - at),
                     trantor::EventLoop::getEventLoopOfCurrentThread()};
    });
  }
  std::string text() { return finish(ask()).text; }

  std::atomic<int> renderings_{0};
  std::atomic<bool> held_{false};
  std::atomic<bool> fails_{false};
  std::atomic<std::thread::id> thread_;
  std::atomic<std::int64_t> now_{1'000'000};
  Loops loops_{2};
  Metrics metrics_;
  MetricsPage page_{metrics_,
                    timeBy([this] { return steady_clock::time_point(milliseconds(now_)); })};
};

std::thread::id threadOf(trantor::EventLoop* loop) {
  std::promise<std::thread::id> id;
  loop->queueInLoop([&id] { id.set_value(std::this_thread::get_id()); });
  return id.get_future().get();
}

}  // namespace

TEST_F(MetricsPageTest, RendersOnAThreadOfItsOwnAndResumesOnTheLoopOfTheRequest) {
  for (const std::size_t loop : {0, 1}) {
    pass(milliseconds(1000));
    EXPECT_EQ(finish(ask(loop)).loop, loops_.at(loop));
    EXPECT_NE(thread_.load(), threadOf(loops_.at(0)));
    EXPECT_NE(thread_.load(), threadOf(loops_.at(1)));
    EXPECT_NE(thread_.load(), std::this_thread::get_id());
  }
  EXPECT_EQ(renderings_, 2);
}

TEST_F(MetricsPageTest, RendersAtMostOnceASecondAndOnlyWhenAsked) {
  EXPECT_EQ(renderings_, 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(text(), "1");
  pass(milliseconds(999));
  EXPECT_EQ(text(), "1");
  pass(milliseconds(1));
  EXPECT_EQ(text(), "2");
  EXPECT_EQ(text(), "2");
  pass(milliseconds(3'600'000));
  EXPECT_EQ(renderings_, 2);
  EXPECT_EQ(text(), "3");
}

TEST_F(MetricsPageTest, RequestsWhileOneIsRenderedShareItAndBlockNoLoop) {
  hold();
  std::vector<std::future<Seen>> requests;
  for (std::size_t i = 0; i < 20; ++i) requests.push_back(ask(i % 2));
  ASSERT_TRUE(eventually([this] { return renderings_ == 1; }));
  // Both loops go on meanwhile: this hangs when one of them waits.
  for (const std::size_t loop : {0, 1})
    EXPECT_NE(threadOf(loops_.at(loop)), std::this_thread::get_id());
  pass(milliseconds(5000));
  for (std::size_t i = 0; i < 20; ++i) requests.push_back(ask(i % 2));
  letGo();
  const auto first = finish(std::move(requests.front())).text;
  for (std::size_t i = 1; i < requests.size(); ++i)
    EXPECT_EQ(finish(std::move(requests[i])).text, first) << i;
  EXPECT_EQ(renderings_, 1);
}

// As long as a rendering takes, the thread has nothing to do for at least a second after it.
TEST_F(MetricsPageTest, TheSecondBeginsWhenTheRenderingIsDone) {
  hold();
  auto slow = ask();
  ASSERT_TRUE(eventually([this] { return renderings_ == 1; }));
  pass(milliseconds(5000));
  letGo();
  finish(std::move(slow));
  pass(milliseconds(999));
  EXPECT_EQ(text(), "1");
}

TEST_F(MetricsPageTest, AFailureReachesAllOfItsSecondAndIsThenTriedAgain) {
  fails_ = true;
  EXPECT_THROW(text(), std::runtime_error);
  EXPECT_THROW(text(), std::runtime_error);
  EXPECT_EQ(renderings_, 1);
  fails_ = false;
  pass(milliseconds(1000));
  EXPECT_EQ(text(), "2");
}

TEST_F(MetricsPageTest, StopAnswersWaitingRequestsAndRefusesLaterOnes) {
  hold();
  auto waiting = ask();
  ASSERT_TRUE(eventually([this] { return renderings_ == 1; }));
  std::thread stopper([this] { page_.stop(); });
  letGo();
  EXPECT_EQ(finish(std::move(waiting)).text, "1");
  stopper.join();
  try {
    text();
    ADD_FAILURE() << "it was rendered after the end";
  } catch (const ServiceError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kShuttingDown);
  }
}

}  // namespace festa::test
