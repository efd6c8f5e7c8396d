-- $1: festivals. At most three pinned announcements each; deleted ones do not count and are never pinned.
SELECT format('festival %s has %s pinned announcements', festival_id, count(*)) AS broken, count(*) - 3 AS oversold
FROM announcements WHERE festival_id = ANY ($1) AND is_pinned GROUP BY festival_id HAVING count(*) > 3
UNION ALL
SELECT format('announcement %s is deleted and still pinned', id), 0
FROM announcements WHERE festival_id = ANY ($1) AND is_pinned AND deleted_at IS NOT NULL
