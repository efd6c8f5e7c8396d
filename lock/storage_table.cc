#include "lock/storages.h"

namespace festa::lock {

const std::vector<StorageRow>& storageTable() {
  static const auto table = builtInStorages();
  return table;
}

}  // namespace festa::lock
