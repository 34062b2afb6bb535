-- Questions to the tables of a fleet (doc/fleet.md), in SQL that SQLite and DuckDB both run:
--
--     sqlite3 -box OUT/tables.sqlite < doc/fleet-questions.sql
--
-- In DuckDB each table is a view first: CREATE VIEW classes AS FROM read_parquet('OUT/tables/*/classes.parquet',
-- hive_partitioning = false); and so on.
--
-- A series are the dumps of an application in the order of their times, which the manifest gives.

-- 1 Steady growers: what has more objects in every dump of a series than in the one before
WITH series AS (
    SELECT d.application, d.time, c.class_key, sum(c.objects) AS objects, sum(c.shallow) AS bytes
    FROM classes c JOIN dump d ON d.dump_id = c.dump_id
    WHERE d.application IS NOT NULL GROUP BY d.application, d.time, c.class_key),
steps AS (
    SELECT *, objects - lag(objects) OVER (PARTITION BY application, class_key ORDER BY time) AS step FROM series)
SELECT application, class_key, count(step) AS steps, max(objects) - min(objects) AS more_objects,
       max(bytes) - min(bytes) AS more_bytes
FROM steps GROUP BY application, class_key
HAVING count(step) >= 2 AND min(step) > 0 ORDER BY more_bytes DESC, application, class_key LIMIT 10;

-- 2 Which packages grew most from the first dump of a series to its last?
WITH ends AS (
    SELECT application, min(time) AS first, max(time) AS last FROM dump WHERE status = 'done' GROUP BY application)
SELECT e.application, p.package, sum(CASE WHEN d.time = e.last THEN p.shallow ELSE - p.shallow END) AS more_bytes
FROM packages p JOIN dump d ON d.dump_id = p.dump_id JOIN ends e ON e.application = d.application
WHERE e.last > e.first AND d.time IN (e.first, e.last) GROUP BY e.application, p.package
HAVING sum(CASE WHEN d.time = e.last THEN p.shallow ELSE - p.shallow END) > 0
ORDER BY more_bytes DESC, e.application, p.package LIMIT 10;

-- 3 The same place of the dominator tree, in the first dump of a series and in its last
WITH ends AS (
    SELECT application, min(time) AS first, max(time) AS last FROM dump WHERE status = 'done' GROUP BY application),
places AS (
    SELECT e.application, o.class_path, sum(CASE WHEN d.time = e.first THEN o.retained ELSE 0 END) AS before,
           sum(CASE WHEN d.time = e.last THEN o.retained ELSE 0 END) AS after
    FROM dominators o JOIN dump d ON d.dump_id = o.dump_id JOIN ends e ON e.application = d.application
    WHERE e.last > e.first AND d.time IN (e.first, e.last) GROUP BY e.application, o.class_path)
SELECT application, class_path, before, after FROM places WHERE after > before
ORDER BY after - before DESC, application, class_path LIMIT 10;

-- 4 Which leaks are there, in how many dumps, since when, and what do they hold?
SELECT l.kind, max(l.class) AS class, count(DISTINCT l.dump_id) AS dumps, sum(l.objects) AS objects,
       sum(l.retained) AS retained, min(d.time) AS first_seen
FROM leaks l JOIN dump d ON d.dump_id = l.dump_id
WHERE l.signature IS NOT NULL GROUP BY l.kind, l.signature ORDER BY dumps DESC, retained DESC, class LIMIT 10;

-- 5 Which heaps are more than a half larger than the median of their application?
WITH ranked AS (
    SELECT application, live_bytes, row_number() OVER (PARTITION BY application ORDER BY live_bytes) AS place,
           count(*) OVER (PARTITION BY application) AS dumps
    FROM dump WHERE status = 'done'),
medians AS (
    SELECT application, avg(live_bytes) AS median FROM ranked WHERE place * 2 BETWEEN dumps AND dumps + 2
    GROUP BY application)
SELECT d.dump_id, d.application, d.live_bytes, round(d.live_bytes / m.median, 2) AS times_the_median
FROM dump d JOIN medians m ON m.application = d.application
WHERE d.live_bytes > 1.5 * m.median ORDER BY times_the_median DESC, d.dump_id LIMIT 10;

-- 6 What is in the last dump of a series, and in none of the others?
WITH ends AS (SELECT application, max(time) AS last FROM dump WHERE status = 'done' GROUP BY application)
SELECT d.application, c.class_key, sum(c.objects) AS objects, sum(c.shallow) AS bytes
FROM classes c JOIN dump d ON d.dump_id = c.dump_id JOIN ends e ON e.application = d.application AND e.last = d.time
WHERE EXISTS (SELECT 1 FROM dump x WHERE x.application = d.application AND x.time < d.time)
  AND NOT EXISTS (SELECT 1 FROM classes o JOIN dump x ON x.dump_id = o.dump_id
                  WHERE x.application = d.application AND x.time < d.time AND o.class_key = c.class_key)
GROUP BY d.application, c.class_key ORDER BY bytes DESC, d.application, c.class_key LIMIT 10;

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
