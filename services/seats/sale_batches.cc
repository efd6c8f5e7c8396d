#include "services/seats/sale_batches.h"

#include "services/write/sql_array.h"

#include <algorithm>

namespace festa {

namespace {

using Members = std::vector<SaleMember*>;

// One member per element. The conditions on `m` keep PostgreSQL's estimate of its rows low, so that
// the plan looks seats up by their index, however many were added since it was made. SKIP LOCKED:
// a member whose seat or user is locked goes alone. The lock on the user is the one that the check
// of the foreign key takes; that check would wait for it.
std::string batchSaleStatement(bool keyed) {
  const std::string keyArrays = keyed ? ", $6::text[], $7::bigint[], $8::text[], $9::text[]" : "";
  const std::string keyColumns = keyed ? ", realm, owner_uid, key, owner" : "";
  const std::string ownsKey = keyed ? ownsKeyJoin("m") : "";
  return "WITH m AS (SELECT * FROM unnest($1::bigint[], $2::text[], $3::int[], $4::bigint[],"
         " $5::bigint[]" +
         keyArrays + ") WITH ORDINALITY AS m (performance, location, number, uid, fence" +
         keyColumns +
         ", n) WHERE n > 0 AND performance > 0 AND fence > 0),"
         " mine AS (SELECT m.n, m.performance, m.uid, m.fence, s.id AS seat_id, u.login, u.name"
         " FROM m CROSS JOIN LATERAL (SELECT 1 FROM performances p WHERE p.id = m.performance"
         "  AND now() >= p.start_reservation_at AND now() < p.end_reservation_at OFFSET 0) p"
         " CROSS JOIN LATERAL (SELECT login, name FROM users u WHERE u.id = m.uid"
         "  FOR KEY SHARE SKIP LOCKED) u" +
         ownsKey +
         " CROSS JOIN LATERAL (SELECT s.id FROM seats s WHERE s.performance_id = m.performance"
         "  AND s.location = m.location AND s.number = m.number AND NOT s.is_reserved"
         "  AND s.fence < m.fence FOR NO KEY UPDATE SKIP LOCKED) s),"
         " seat AS (UPDATE seats s SET is_reserved = true, fence = mine.fence FROM mine"
         "  WHERE s.id = mine.seat_id RETURNING mine.n, s.id AS seat_id, mine.performance, "
         "mine.uid,"
         "  mine.login, mine.name, nextval('reservations_id_seq') AS rid),"
         " sale AS (INSERT INTO reservations (id, user_id, seat_id, performance_id)"
         "  SELECT rid, uid, seat_id, performance FROM seat)"
         " SELECT rid, seat_id, login, name, " FESTA_LOCAL_TIME("now()") ", n FROM seat";
}

// The parameters of batchSaleStatement().
struct Parameters {
  explicit Parameters(const Members& batch) {
    for (const auto* const member : batch) {
      const auto& seat = member->sale.seat();
      performances.add(seat.performanceId);
      locations.add(seat.location);
      numbers.add(seat.number);
      users.add(member->sale.userId());
      fences.add(*member->guard.fence);
    }
  }

  SqlArray performances;
  SqlArray locations;
  SqlArray numbers;
  SqlArray users;
  SqlArray fences;
};

void readSales(const drogon::orm::Result& rows, const Members& batch) {
  for (const auto& row : rows) {
    auto& member = *batch.at(row[5].as<std::size_t>() - 1);
    member.result.value = member.sale.saleIn(row);
  }
}

drogon::Task<> sellIn(SqlClient& sql, const Members& batch) {
  static const std::string kStatement = batchSaleStatement(false);
  Parameters p(batch);
  const auto rows = co_await sql.execSqlCoro(kStatement, p.performances.take(), p.locations.take(),
                                             p.numbers.take(), p.users.take(), p.fences.take());
  readSales(rows, batch);
}

// What is written for all members ends with the lease that ends first.
class EarliestDeadline : public Deadline {
 public:
  explicit EarliestDeadline(const Members& batch) : batch_(batch) {}
  SteadyTime validUntil() const override {
    auto end = SteadyTime::max();
    for (const auto* const member : batch_) end = std::min(end, member->guard.validUntil());
    return end;
  }

 private:
  const Members& batch_;
};

struct SaleWithReceipts {
  const Members& batch;

  drogon::Task<std::monostate> operator()(Sql& sql) {
    static const std::string kStatement = batchSaleStatement(true);
    Parameters p(batch);
    auto keys = keysOf(batch);
    const auto rows = co_await sql.execSqlCoro(
        kStatement, p.performances.take(), p.locations.take(), p.numbers.take(), p.users.take(),
        p.fences.take(), keys.realms.take(), keys.uids.take(), keys.keys.take(),
        keys.owners.take());
    readSales(rows, batch);
    co_await storeAnswers(sql, batch);
    co_return std::monostate{};
  }
};

// A member past its lease is not sent.
Members refuseLate(Members batch) {
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(batch, [now](SaleMember* member) {
    auto* const observer = member->guard.observer;
    if (observer != nullptr) observer->poolWaited(now - member->arrived);
    const bool isLate = now >= member->guard.validUntil();
    if (isLate) member->result.refuse(ServiceError(ErrorCode::kLockLost, "the lease is over"));
    return isLate;
  });
  return batch;
}

}  // namespace

drogon::Task<std::optional<Reservation>> SaleBatches::attempt(SeatSale& sale,
                                                              const WriteGuard& guard,
                                                              const Receipt<Reservation>* receipt) {
  if (!areShared())
    co_return co_await attemptStatement<Reservation>(database_, guard, sale, receipt);
  if (auto* const point = testPointOf(guard.observer)) co_await point->beforeCommit();
  SaleMember member(sale, guard, receipt);
  co_await join(member);
  co_return member.result.take();
}

drogon::Task<> SaleBatches::write(std::vector<SaleMember*> batch) {
  const Members sent = refuseLate(std::move(batch));
  if (sent.empty()) co_return;
  const auto end = co_await outcomeOf(sell(sent));
  if (end.isCommitted) co_return;
  for (auto* const member : sent) member->result.fail(end);
}

drogon::Task<> SaleBatches::sell(std::vector<SaleMember*> batch) const {
  const EarliestDeadline deadline(batch);
  TransactionOptions options;
  options.deadline = &deadline;
  options.commitTimeout = database_.settings.commitTimeout;
  if (haveReceipts(batch)) {
    SaleWithReceipts body{batch};
    co_await inTransaction(database_.batchClient(), options, body);
    co_return;
  }
  auto statement = [&](Sql& sql) { return sellIn(sql, batch); };
  co_await committedByItself(database_.batchClient(), options, statement);
}

}  // namespace festa
