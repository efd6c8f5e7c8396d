-- $1: performances. A seat has at most one active reservation, and is marked as sold exactly when it has one.
WITH sales AS (
  SELECT s.id, format('seat %s-%s of performance %s', s.location, s.number, s.performance_id) AS name, s.is_reserved,
         count(r.id) AS sold
  FROM seats s LEFT JOIN reservations r ON r.seat_id = s.id AND r.cancelled_at IS NULL
  WHERE s.performance_id = ANY ($1) GROUP BY s.id)
SELECT format('%s was sold %s times', name, sold) AS broken, sold - 1 AS oversold FROM sales WHERE sold > 1
UNION ALL
SELECT format('%s is marked as sold, but has no reservation', name), 0 FROM sales WHERE is_reserved AND sold = 0
UNION ALL
SELECT format('%s is sold, but not marked', name), 0 FROM sales WHERE NOT is_reserved AND sold > 0
UNION ALL
SELECT format('reservation %s and its seat are of different performances', r.id), 0
FROM reservations r JOIN seats s ON s.id = r.seat_id
WHERE (r.performance_id = ANY ($1) OR s.performance_id = ANY ($1)) AND r.performance_id <> s.performance_id
