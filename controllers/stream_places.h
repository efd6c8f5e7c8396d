// How many event streams there may be.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace festa {

// Places for streams: so many in all, so many for one user. Thread-safe.
class StreamPlaces : public std::enable_shared_from_this<StreamPlaces> {
 public:
  StreamPlaces(std::size_t inAll, std::size_t perUser) : inAll_(inAll), perUser_(perUser) {}

  // One reader's place. The destructor gives it back.
  class Place {
   public:
    // See take(); nullopt: of a reader without a name.
    Place(std::shared_ptr<StreamPlaces> places, std::optional<std::int64_t> user);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    const std::shared_ptr<StreamPlaces> places_;
    const std::optional<std::int64_t> user_;
  };

  // Throws ServiceError: kRateLimited when the user has all of their places, kOverloaded when all
  // places are taken. Shared, because the callbacks of an answer are copied.
  std::shared_ptr<Place> take(std::int64_t user);
  // For a reader without a name, who may have any number of places.
  std::shared_ptr<Place> take();

 private:
  const std::size_t inAll_;
  const std::size_t perUser_;
  std::mutex mutex_;
  // guarded by mutex_
  std::size_t taken_ = 0;
  std::unordered_map<std::int64_t, std::size_t> byUser_;  // of users that have a place
};

}  // namespace festa
