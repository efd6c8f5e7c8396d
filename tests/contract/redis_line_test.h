// Storages on one Redis server by their types, for typed tests.
#pragma once

#include "lock/redis/line/redis_line.h"
#include "lock/redis/redis_spin_lock_storage.h"
#include "tests/support/lock/storages.h"
#include "tests/support/servers/redis_server.h"

#include <string>
#include <type_traits>

namespace festa::test {

struct NamesOfStorages {
  template <class Storage>
  static std::string GetName(int) {
    return std::string(Storage::kName).replace(5, 1, "_");
  }
};

// A storage as a process of its own would have it: its own name, clients and subscription.
// `messages`: the port for the subscription; 0: the same one. `patience`: with the server's answer.
template <class Storage>
std::shared_ptr<Storage> ownStorage(Loops& loops, int port, int messages = 0,
                                    lock::Millis patience = lock::Millis{2000}) {
  return std::dynamic_pointer_cast<Storage>(makeStorage({.name = Storage::kName,
                                                         .epochs = countedEpochs(),
                                                         .ports = {port},
                                                         .messages = messages,
                                                         .patience = patience},
                                                        loops));
}

}  // namespace festa::test
