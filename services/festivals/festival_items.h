// Things that a festival's councils write and all clients read: its line-up, events, questions, …
#pragma once

#include "services/write/database.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace festa {

// Of one kind; a list is read as a whole. Concurrent inserts may pass it by their number.
inline constexpr int kMostItemsOfFestival = 500;

// The statements for one kind. Those that return rows return the columns that the kind reads.
struct FestivalTable {
  std::string list;    // ($1 festival)
  std::string insert;  // ($1 festival, $2 … values): no row when the festival has too many
  std::string update;  // ($1 festival, $2 id, $3 … values): no row unless it is the festival's
  std::string remove;  // ($1 festival, $2 id): returns the id
  std::string owner;   // ($1 id): its festival
  std::string count;   // ($1 festival)
  ErrorCode missing;
  ErrorCode foreign;
};

// What festivalTable() makes the statements of.
struct FestivalColumns {
  const char* table;
  std::vector<std::pair<std::string, std::string>> written;  // column and type of each value
  std::string read;                                          // expressions, the id first
  std::string order;
  ErrorCode missing;
  ErrorCode foreign;
};

FestivalTable festivalTable(const FestivalColumns& columns);

// Throws the table's `missing` or `foreign` unless the row is the festival's.
drogon::Task<> requireOwned(Sql& sql, const FestivalTable& table, std::int64_t festivalId,
                            std::int64_t id);
// Throws ServiceError(kFestivalLimitExceeded) when the festival has kMostItemsOfFestival.
drogon::Task<> requireRoom(Sql& sql, const FestivalTable& table, std::int64_t festivalId);
// Throws ServiceError(kFestivalNotFound).
drogon::Task<> requireFestival(drogon::orm::DbClient& sql, std::int64_t festivalId);

// What most kinds do not need.
struct FestivalKind {
  // What an item refers to must be the festival's, and stay until the transaction ends.
  template <class Item>
  static drogon::Task<> requireReferences(Sql&, std::int64_t, const Item&) {
    co_return;
  }
};

// The items of one kind. `Kind` is a FestivalKind with
//   Item            what a council writes
//   Row             what is read; has `id`
//   table()         its FestivalTable
//   values(item)    a tuple of references to what is stored of an item
//   read(row)       a Row of the columns that the statements return
// The caller's festival comes first in every write: another festival's row is the table's
// `foreign`, an unknown one its `missing`. Thread-safe.
template <class Kind>
class FestivalItems {
 public:
  using Item = typename Kind::Item;
  using Row = typename Kind::Row;

  explicit FestivalItems(const Database& database) : database_(database) {}

  // Throws ServiceError(kFestivalNotFound).
  drogon::Task<std::vector<Row>> list(std::int64_t festivalId) const {
    const auto db = database_.client();
    const auto rows = co_await db->execSqlCoro(Kind::table().list, festivalId);
    if (rows.empty()) co_await requireFestival(*db, festivalId);
    co_return readAll(rows);
  }

  // Throws ServiceError(kFestivalLimitExceeded).
  drogon::Task<Row> create(std::int64_t festivalId, Item item,
                           const Receipt<Row>* receipt = nullptr) const {
    auto write = [&](Sql& sql) { return insert(sql, festivalId, item); };
    co_return co_await plainWrite(database_, write, receipt);
  }

  drogon::Task<Row> change(std::int64_t festivalId, std::int64_t id, Item item,
                           const Receipt<Row>* receipt = nullptr) const {
    auto write = [&](Sql& sql) { return update(sql, festivalId, id, item); };
    co_return co_await plainWrite(database_, write, receipt);
  }

  // Returns the id.
  drogon::Task<std::int64_t> remove(std::int64_t festivalId, std::int64_t id,
                                    const Receipt<std::int64_t>* receipt = nullptr) const {
    auto write = [&](Sql& sql) { return erase(sql, festivalId, id); };
    co_return co_await plainWrite(database_, write, receipt);
  }

  static std::vector<Row> readAll(const drogon::orm::Result& rows) {
    std::vector<Row> all;
    all.reserve(rows.size());
    for (const auto& row : rows) all.push_back(Kind::read(row));
    return all;
  }

 protected:
  const Database& database_;

 private:
  static drogon::Task<Row> insert(Sql& sql, std::int64_t festivalId, const Item& item) {
    co_await Kind::requireReferences(sql, festivalId, item);
    const auto rows = co_await execute(sql, Kind::table().insert, Kind::values(item), festivalId);
    if (!rows.empty()) co_return Kind::read(rows[0]);
    co_await requireFestival(sql, festivalId);
    throw ServiceError(ErrorCode::kFestivalLimitExceeded);
  }

  static drogon::Task<Row> update(Sql& sql, std::int64_t festivalId, std::int64_t id,
                                  const Item& item) {
    co_await requireOwned(sql, Kind::table(), festivalId, id);
    co_await Kind::requireReferences(sql, festivalId, item);
    const auto rows =
        co_await execute(sql, Kind::table().update, Kind::values(item), festivalId, id);
    if (rows.empty()) throw ServiceError(Kind::table().missing);
    co_return Kind::read(rows[0]);
  }

  static drogon::Task<std::int64_t> erase(Sql& sql, std::int64_t festivalId, std::int64_t id) {
    co_await requireOwned(sql, Kind::table(), festivalId, id);
    const auto rows = co_await sql.execSqlCoro(Kind::table().remove, festivalId, id);
    if (rows.empty()) throw ServiceError(Kind::table().missing);
    co_return id;
  }

  // No coroutine: the lambda must not live in one (GCC 12). Everything is bound when it returns.
  template <class Values, class... Ids>
  static auto execute(Sql& sql, const std::string& statement, const Values& values, Ids... ids) {
    return std::apply(
        [&](const auto&... value) { return sql.execSqlCoro(statement, ids..., value...); }, values);
  }
};

}  // namespace festa
