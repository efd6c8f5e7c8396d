-- $1: coupons. No more granted than there were, and what is left says so; numbers 1, 2, 3 … without gaps or doubles; one per
-- user where that is the rule. A claim whose work failed keeps its number and returns its unit.
WITH totals AS (
  SELECT c.id, c.stock, c.remaining, c.granted,
         count(k.id) FILTER (WHERE k.state IN ('PROCESSED', 'DONE')) AS given,
         count(k.sequence) AS numbered, count(DISTINCT k.sequence) AS numbers, coalesce(max(k.sequence), 0) AS last
  FROM coupons c LEFT JOIN coupon_claims k ON k.coupon_id = c.id WHERE c.id = ANY ($1) GROUP BY c.id)
SELECT format('coupon %s was granted %s times from a stock of %s', id, given, stock) AS broken, given - stock AS oversold
FROM totals WHERE given > stock
UNION ALL
SELECT format('coupon %s has %s left, but %s of %s were granted', id, remaining, given, stock), 0
FROM totals WHERE remaining <> stock - given
UNION ALL
SELECT format('coupon %s gave %s of its numbers twice', id, numbered - numbers), 0
FROM totals WHERE numbered > numbers
UNION ALL
SELECT format('coupon %s has a gap: its last number is %s, but it gave %s', id, last, numbers), 0
FROM totals WHERE last <> numbers
UNION ALL
SELECT format('coupon %s counts %s numbers given, but the last is %s', id, granted, last), 0
FROM totals WHERE granted <> last
UNION ALL
SELECT format('claim %s is granted without a number', id), 0
FROM coupon_claims WHERE coupon_id = ANY ($1) AND state IN ('PROCESSED', 'DONE') AND sequence IS NULL
UNION ALL
-- What is beyond the stock is counted there.
SELECT format('user %s has coupon %s %s times', k.user_id, k.coupon_id, count(*)), (count(*) - 1) * (given <= stock)::int
FROM coupon_claims k JOIN totals t ON t.id = k.coupon_id
WHERE k.one_per_user AND k.state IN ('PROCESSED', 'DONE')
GROUP BY k.coupon_id, k.user_id, t.given, t.stock HAVING count(*) > 1
