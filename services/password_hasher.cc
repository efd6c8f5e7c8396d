#include "services/password_hasher.h"

#include "services/error.h"

#include <sodium.h>
#include <trantor/net/EventLoop.h>

#include <array>
#include <coroutine>

namespace festa {

namespace {

// OWASP's minimum for argon2id: 19 MiB, two passes.
constexpr unsigned long long kPasses = 2;
constexpr std::size_t kMemory = 19UL * 1024 * 1024;

void initialiseSodium() {
  if (sodium_init() < 0) throw std::runtime_error("libsodium could not be initialised");
}

std::string randomPassword() {
  initialiseSodium();
  std::string password(32, '\0');
  randombytes_buf(password.data(), password.size());
  return password;
}

}  // namespace

// Runs `compute` on a hashing thread and resumes the awaiting coroutine on its loop.
class PasswordHasher::Job {
 public:
  Job(PasswordHasher& hasher, std::function<void()> compute)
      : hasher_(hasher), compute_(std::move(compute)) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  bool await_ready() const noexcept { return false; }
  // An exception here resumes the coroutine with it.
  void await_suspend(std::coroutine_handle<> handle) {
    auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
    hasher_.enqueue([this, loop, handle] { run(loop, handle); });
  }
  void await_resume() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void run(trantor::EventLoop* loop, std::coroutine_handle<> handle) {
    try {
      compute_();
    } catch (...) {
      failure_ = std::current_exception();
    }
    loop->queueInLoop([handle] { handle.resume(); });
  }

  PasswordHasher& hasher_;
  const std::function<void()> compute_;
  std::exception_ptr failure_;
};

PasswordHasher::PasswordHasher(std::size_t threads, std::size_t maxQueued)
    : maxQueued_(maxQueued), nobody_(hashNow(randomPassword())) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

PasswordHasher::~PasswordHasher() {
  stop();
}

void PasswordHasher::stop() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void PasswordHasher::enqueue(std::function<void()> job) {
  {
    const std::lock_guard guard(mutex_);
    if (stopping_) throw ServiceError(ErrorCode::kShuttingDown, "no passwords are hashed any more");
    if (queue_.size() >= maxQueued_)
      throw ServiceError(ErrorCode::kOverloaded, "password queue is full");
    queue_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void PasswordHasher::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    const auto job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

std::string PasswordHasher::hashNow(const std::string& password) {
  initialiseSodium();
  std::array<char, crypto_pwhash_STRBYTES> out{};
  if (crypto_pwhash_str_alg(out.data(), password.data(), password.size(), kPasses, kMemory,
                            crypto_pwhash_ALG_ARGON2ID13) != 0)
    throw std::runtime_error("not enough memory to hash a password");
  return out.data();
}

bool PasswordHasher::verifyNow(const std::string& hash, const std::string& password) {
  initialiseSodium();
  return crypto_pwhash_str_verify(hash.c_str(), password.data(), password.size()) == 0;
}

drogon::Task<std::string> PasswordHasher::hash(std::string password) {
  std::string result;
  auto compute = [&] { result = hashNow(password); };
  Job job(*this, compute);
  co_await job;
  co_return result;
}

drogon::Task<bool> PasswordHasher::verify(std::string hash, std::string password) {
  bool result = false;
  auto compute = [&] { result = verifyNow(hash, password); };
  Job job(*this, compute);
  co_await job;
  co_return result;
}

drogon::Task<bool> PasswordHasher::verifyNobody(std::string password) {
  co_await verify(nobody_, std::move(password));
  co_return false;
}

}  // namespace festa
