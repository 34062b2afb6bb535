-- Questions to the tables of a fleet (doc/fleet.md), in SQL that SQLite and DuckDB both run:
--
--     sqlite3 -box OUT/tables.sqlite < doc/fleet-questions.sql
--
-- In DuckDB each table is a view first: CREATE VIEW classes AS FROM read_parquet('OUT/tables/*/classes.parquet',
-- hive_partitioning = false); and so on.
--
-- A series are the dumps of an application in the order of their times. Both are columns of the manifest; without it
-- the time is when the dump was written, and dumps without an application are one series. A dump that failed or is
-- damaged is in none: what it lacks was not freed. Several dumps of one time count together.

-- 1 Steady growers: what has more objects in every dump of a series than in the one before
WITH whole AS (
    SELECT dump_id, coalesce(application, '') AS application,
           dense_rank() OVER (PARTITION BY coalesce(application, '') ORDER BY time) AS place
    FROM dump WHERE status = 'done' AND damage = 0 AND time IS NOT NULL),
ends AS (SELECT application, max(place) AS last FROM whole GROUP BY application),
series AS (
    SELECT w.application, w.place, c.class_key, sum(c.objects) AS objects, sum(c.shallow) AS bytes
    FROM classes c JOIN whole w ON w.dump_id = c.dump_id GROUP BY w.application, w.place, c.class_key),
steps AS (
    SELECT *, objects - lag(objects, 1, 0) OVER (PARTITION BY application, class_key ORDER BY place) AS more_objects,
           bytes - lag(bytes, 1, 0) OVER (PARTITION BY application, class_key ORDER BY place) AS more_bytes
    FROM series)
SELECT s.application, s.class_key, e.last - 1 AS steps,
       sum(CASE WHEN s.place > 1 THEN s.more_objects ELSE 0 END) AS more_objects,
       sum(CASE WHEN s.place > 1 THEN s.more_bytes ELSE 0 END) AS more_bytes
FROM steps s JOIN ends e ON e.application = s.application
WHERE e.last >= 3 GROUP BY s.application, s.class_key, e.last
HAVING sum(CASE WHEN s.place > 1 AND s.more_objects > 0 THEN 1 ELSE 0 END) = e.last - 1
ORDER BY more_bytes DESC, s.application, s.class_key LIMIT 10;

-- 2 Which packages grew most from the first dump of a series to its last?
WITH whole AS (
    SELECT dump_id, coalesce(application, '') AS application,
           dense_rank() OVER (PARTITION BY coalesce(application, '') ORDER BY time) AS place
    FROM dump WHERE status = 'done' AND damage = 0 AND time IS NOT NULL),
ends AS (SELECT application, max(place) AS last FROM whole GROUP BY application)
SELECT e.application, p.package, sum(CASE WHEN w.place = 1 THEN - p.shallow ELSE p.shallow END) AS more_bytes
FROM packages p JOIN whole w ON w.dump_id = p.dump_id JOIN ends e ON e.application = w.application
WHERE e.last > 1 AND w.place IN (1, e.last) GROUP BY e.application, p.package
HAVING sum(CASE WHEN w.place = 1 THEN - p.shallow ELSE p.shallow END) > 0
ORDER BY more_bytes DESC, e.application, p.package LIMIT 10;

-- 3 The same place of the dominator tree, in the first dump of a series and in its last
WITH whole AS (
    SELECT dump_id, coalesce(application, '') AS application,
           dense_rank() OVER (PARTITION BY coalesce(application, '') ORDER BY time) AS place
    FROM dump WHERE status = 'done' AND damage = 0 AND time IS NOT NULL),
ends AS (SELECT application, max(place) AS last FROM whole GROUP BY application),
places AS (
    SELECT e.application, o.class_path, sum(CASE WHEN w.place = 1 THEN o.retained ELSE 0 END) AS before,
           sum(CASE WHEN w.place = 1 THEN 0 ELSE o.retained END) AS after
    FROM dominators o JOIN whole w ON w.dump_id = o.dump_id JOIN ends e ON e.application = w.application
    WHERE e.last > 1 AND w.place IN (1, e.last) GROUP BY e.application, o.class_path)
SELECT application, class_path, before, after FROM places WHERE after > before
ORDER BY after - before DESC, application, class_path LIMIT 10;

-- 4 Which leaks are there, in how many dumps, since when, and what do they hold?
SELECT l.kind, max(l.class) AS class, count(DISTINCT l.dump_id) AS dumps, sum(l.objects) AS objects,
       sum(l.retained) AS retained, min(d.time) AS first_seen
FROM leaks l JOIN dump d ON d.dump_id = l.dump_id
WHERE l.signature IS NOT NULL GROUP BY l.kind, l.signature ORDER BY dumps DESC, retained DESC, class LIMIT 10;

-- 5 Which heaps are more than a half larger than the median of their application?
WITH whole AS (
    SELECT dump_id, coalesce(application, '') AS application, live_bytes FROM dump
    WHERE status = 'done' AND damage = 0),
ranked AS (
    SELECT *, row_number() OVER (PARTITION BY application ORDER BY live_bytes) AS place,
           count(*) OVER (PARTITION BY application) AS dumps
    FROM whole),
medians AS (
    SELECT application, avg(live_bytes) AS median FROM ranked WHERE place * 2 BETWEEN dumps AND dumps + 2
    GROUP BY application)
SELECT w.dump_id, w.application, w.live_bytes, round(w.live_bytes / m.median, 2) AS times_the_median
FROM whole w JOIN medians m ON m.application = w.application
WHERE w.live_bytes > 1.5 * m.median ORDER BY times_the_median DESC, w.dump_id LIMIT 10;

-- 6 What is in the last dump of a series, and in none of the others?
WITH whole AS (
    SELECT dump_id, coalesce(application, '') AS application,
           dense_rank() OVER (PARTITION BY coalesce(application, '') ORDER BY time) AS place
    FROM dump WHERE status = 'done' AND damage = 0 AND time IS NOT NULL),
ends AS (SELECT application, max(place) AS last FROM whole GROUP BY application),
had AS (
    SELECT w.application, c.class_key, min(w.place) AS first, sum(c.objects) AS objects, sum(c.shallow) AS bytes
    FROM classes c JOIN whole w ON w.dump_id = c.dump_id GROUP BY w.application, c.class_key)
SELECT h.application, h.class_key, h.objects, h.bytes
FROM had h JOIN ends e ON e.application = h.application
WHERE e.last > 1 AND h.first = e.last ORDER BY h.bytes DESC, h.application, h.class_key LIMIT 10;

-- 7 Where does one object hold more than 30 % of its heap?
SELECT dump_id, coalesce('class ' || owner, class) AS holder, label, retained, round(percent, 1) AS percent
FROM dominators WHERE depth = 1 AND percent > 30 ORDER BY percent DESC, dump_id LIMIT 10;

-- 8 What does the whole fleet spend its memory on?
SELECT class_key, statics, count(DISTINCT dump_id) AS dumps, sum(objects) AS objects, sum(retained) AS retained
FROM dominators_by_class GROUP BY class_key, statics ORDER BY retained DESC, class_key LIMIT 10;

-- 9 Which classes does one heap have from more than three class loaders?
SELECT dump_id, class, count(DISTINCT loader) AS loaders, sum(objects) AS objects
FROM classes GROUP BY dump_id, class HAVING count(DISTINCT loader) > 3 ORDER BY loaders DESC, dump_id, class LIMIT 10;

-- 10 Which pools have the most threads, and what do they hold?
SELECT dump_id, pool, count(*) AS threads, sum(retained) AS retained
FROM threads WHERE pool IS NOT NULL GROUP BY dump_id, pool HAVING count(*) > 1
ORDER BY threads DESC, dump_id, pool LIMIT 10;

-- 11 Where does a type of GC roots hold more than twice as many objects as it does on average?
WITH usual AS (SELECT type, avg(objects) AS objects FROM roots GROUP BY type)
SELECT r.dump_id, r.type, r.objects, round(u.objects, 1) AS on_average
FROM roots r JOIN usual u ON u.type = r.type
WHERE r.objects > 2 * u.objects ORDER BY r.objects / u.objects DESC, r.dump_id LIMIT 10;

-- 12 Which heaps are more than a fifth garbage?
SELECT dump_id, unreachable_bytes, round(100.0 * unreachable_bytes / (live_bytes + unreachable_bytes), 1) AS percent
FROM dump WHERE unreachable_bytes > 0.2 * (live_bytes + unreachable_bytes) ORDER BY percent DESC, dump_id LIMIT 10;

-- 13 Which texts are wasted in most dumps?
SELECT label, count(DISTINCT dump_id) AS dumps, sum(objects) AS strings, sum(wasted) AS wasted
FROM strings GROUP BY label ORDER BY wasted DESC, label LIMIT 10;

-- 14 Which collections have room for nothing, over the fleet?
SELECT class_key, sum(collections) AS collections, sum(empty) AS empty, sum(waste) AS waste
FROM collections GROUP BY class_key HAVING sum(waste) > 0 ORDER BY waste DESC, class_key LIMIT 10;

-- 15 Which answers must not be trusted, and why?
SELECT d.dump_id, d.status, d.damage, d.stripping, p.table_name, p.code, p.message
FROM dump d JOIN problems p ON p.dump_id = d.dump_id ORDER BY d.dump_id, coalesce(p.table_name, ''), p.code, p.message;
