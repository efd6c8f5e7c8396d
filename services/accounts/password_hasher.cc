#include "services/accounts/password_hasher.h"

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

// Computes on a hashing thread and resumes the awaiting coroutine, in whose frame it lives, on its
// loop.
class PasswordHasher::Job {
 public:
  explicit Job(PasswordHasher& hasher) : hasher_(hasher) {}
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  void run() {
    try {
      compute();
    } catch (...) {
      failure_ = std::current_exception();
    }
    loop_->queueInLoop([handle = handle_] { handle.resume(); });
  }

  bool await_ready() const noexcept { return false; }
  // An exception here resumes the coroutine with it.
  void await_suspend(std::coroutine_handle<> handle) {
    loop_ = trantor::EventLoop::getEventLoopOfCurrentThread();
    handle_ = handle;
    hasher_.enqueue(*this);
  }
  void await_resume() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  virtual void compute() = 0;

  PasswordHasher& hasher_;
  trantor::EventLoop* loop_ = nullptr;
  std::coroutine_handle<> handle_;
  std::exception_ptr failure_;
};

class PasswordHasher::HashJob : public Job {
 public:
  HashJob(PasswordHasher& hasher, std::string password)
      : Job(hasher), password_(std::move(password)) {}
  std::string result;

 private:
  void compute() override { result = hashNow(password_); }

  const std::string password_;
};

class PasswordHasher::VerifyJob : public Job {
 public:
  VerifyJob(PasswordHasher& hasher, std::string hash, std::string password)
      : Job(hasher), hash_(std::move(hash)), password_(std::move(password)) {}
  bool result = false;

 private:
  void compute() override { result = verifyNow(hash_, password_); }

  const std::string hash_;
  const std::string password_;
};

PasswordHasher::PasswordHasher(std::size_t threads, std::size_t maxQueued)
    : maxQueued_(maxQueued), randomHash_(hashNow(randomPassword())) {
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

void PasswordHasher::enqueue(Job& job) {
  {
    const std::lock_guard guard(mutex_);
    if (stopping_) throw ServiceError(ErrorCode::kShuttingDown, "no passwords are hashed any more");
    if (queue_.size() >= maxQueued_)
      throw ServiceError(ErrorCode::kOverloaded, "password queue is full");
    queue_.push_back(&job);
  }
  wake_.notify_one();
}

void PasswordHasher::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    auto* const job = queue_.front();
    queue_.pop_front();
    lock.unlock();
    job->run();
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
  HashJob job(*this, std::move(password));
  co_await job;
  co_return job.result;
}

drogon::Task<bool> PasswordHasher::verify(std::string hash, std::string password) {
  VerifyJob job(*this, std::move(hash), std::move(password));
  co_await job;
  co_return job.result;
}

drogon::Task<bool> PasswordHasher::verifyUnknown(std::string password) {
  co_await verify(randomHash_, std::move(password));
  co_return false;
}

}  // namespace festa
