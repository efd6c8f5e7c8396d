"""Claims per second of one hot coupon."""
from loadtest.bench.figures import say
from loadtest.bench.load import IN_FLIGHT, median, rotated, wrk
from loadtest.bench.stand import BUYERS

COUPONS = 30  # of those that a user can claim once


def coupon(lab, one_per_user, claims=0):
    """A coupon that users who take no part have claimed so often."""
    number = lab.query(f"INSERT INTO coupons (name, stock, remaining, granted, one_per_user)"
                       f" VALUES ('bench', 100000000, {100000000 - claims}, {claims}, {one_per_user}) RETURNING id")
    if claims:
        lab.query(f"INSERT INTO coupon_claims (coupon_id, user_id, state, sequence, one_per_user)"
                  f" SELECT {number}, u.id, 'DONE', row_number() OVER (ORDER BY u.id), {one_per_user} FROM (SELECT id FROM users"
                  f" WHERE login LIKE 'claimant%' ORDER BY id LIMIT {claims}) u")
    return int(number)


def claims_of(lab, first, last):
    return int(lab.query(f"SELECT count(*) FROM coupon_claims WHERE coupon_id BETWEEN {first} AND {last}"))


def together(lab, rounds, seconds):
    servers = {n: lab.server(f"together-{n}", FESTA_LOCK_STRATEGY="memory", FESTA_LOCK_LOCKABLES_COUPONS_TOGETHER=n) for n in (1, 64)}
    rates = {n: [] for n in servers}
    for round_ in range(rounds + 1):
        for n in rotated(list(servers), round_):
            number = coupon(lab, False)
            wrk(servers[n], seconds, 2 * IN_FLIGHT, "claim.lua", number, lab.buyers, 0)
            if round_ > 0:
                rates[n].append(claims_of(lab, number, number) / seconds)
        if round_ > 0:
            say(f"  round {round_}: " + ", ".join(f"together {n}: {all_[-1]:.0f}/s" for n, all_ in rates.items()))
    lab.figures.result("claims/s of one coupon, memory, together = 64 over together = 1",
                       [many / one for one, many in zip(rates[1], rates[64])], goal=10,
                       detail=f"{median(rates[64]):.0f}/s of {median(rates[1]):.0f}/s")


def grown(lab, rounds):
    """Each buyer claims each coupon once, while others have claimed it 9,000 or 100 times before."""
    lab.query("INSERT INTO users (login, password_hash, name, age, email, phone) SELECT 'claimant' || n, '', 'n', 20, '', ''"
              " FROM generate_series(1, 9000) n ON CONFLICT DO NOTHING")
    server = lab.server("memory", FESTA_LOCK_STRATEGY="memory")
    rates = {100: [], 9000: []}
    for round_ in range(rounds + 1):
        for claims in rotated(list(rates), round_):
            numbers = [coupon(lab, True, claims) for _ in range(COUPONS)]
            lab.query("VACUUM ANALYZE coupon_claims")
            wrk(server, 2, IN_FLIGHT, "claim.lua", numbers[0], lab.buyers, COUPONS)
            taken = float(lab.query("SELECT extract(epoch FROM max(q.created_at) - min(q.created_at)) FROM coupon_claims q JOIN users u"
                                    f" ON u.id = q.user_id WHERE q.coupon_id BETWEEN {numbers[0]} AND {numbers[-1]}"
                                    " AND u.login NOT LIKE 'claimant%'"))
            count = claims_of(lab, numbers[0], numbers[-1]) - COUPONS * claims
            if count != COUPONS * BUYERS:
                raise RuntimeError(f"{count} claims instead of {COUPONS * BUYERS}")
            if round_ > 0:
                rates[claims].append(count / taken)
    lab.figures.result("claims/s, 9,000 claims in, over 100 claims in", [b / a for a, b in zip(rates[100], rates[9000])],
                       goal=0.95, detail=f"{median(rates[9000]):.0f}/s of {median(rates[100]):.0f}/s")


def run(lab, rounds, seconds):
    together(lab, rounds, seconds)
    grown(lab, rounds)
