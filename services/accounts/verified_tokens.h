// Tokens whose signatures have been checked, so that the next request need not do it again.
#pragma once

#include "services/accounts/caller.h"

#include <ctime>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace festa {

// Bounded and thread-safe. An entry is found by the whole token only, and only before the token
// expires, so that find() accepts exactly what checking the signature again would accept.
class VerifiedTokens {
 public:
  explicit VerifiedTokens(std::size_t limit) : half_(limit / 2) {}

  std::optional<Caller> find(const std::string& token, std::time_t now);
  void add(const std::string& token, const Caller& caller, std::time_t expires);
  std::size_t size() const;

 private:
  struct Entry {
    Caller caller;
    std::time_t expires;
  };
  using Entries = std::unordered_map<std::string, Entry>;

  // With mutex_ held; returns what has to go.
  Entries put(const std::string& token, Entry entry);

  const std::size_t half_;
  mutable std::mutex mutex_;
  // When young_ is full it becomes old_, and the entries that were in old_ are dropped. An entry
  // that is found in old_ moves to young_. Guarded by mutex_.
  Entries young_;
  Entries old_;
};

}  // namespace festa
