#!/bin/sh
# Tests the page that bench/run prints: ratios are of the same round, failed runs are omitted, targets are judged; and
# that one_segment.py changes only lengths.
#     summary.sh BENCH_FOLDER BENCH_MAKE_DUMP HEAPDEX
set -eu
bench=$1 make=$2 heapdex=$3
command -v python3 > /dev/null || { echo "no python3: left out"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
head=scenario,case,tool,revision,round,wall_s,user_s,sys_s,peak_rss_mb,bytes,objects,exit,load,date,cpu
head=$head,cores,memory_gib
rest="0.1,2026-01-01T00:00:00Z,some processor,2,24"
{
    echo "$head"
    echo "builds,mix,heapdex,old,1,99,1,1,9999,1,1,0,$rest"
    echo "builds,mix,heapdex,new,1,10,15,1,1000,440,40,0,$rest"
    echo "builds,mix,hprof-analyzer,1,1,80,1,1,1,1,,0,$rest"
    echo "builds,mix,heapdex,new,2,20,30,1,1300,440,40,0,$rest"
    echo "builds,mix,hprof-analyzer,1,2,120,1,1,1,1,,0,$rest"
    echo "builds,mix,heapdex,new,3,10,15,1,1000,440,40,0,$rest"
    echo "builds,mix,hprof-analyzer,1,3,1,1,1,1,1,,9,$rest"
    echo "steps,mix:references,heapdex,new,1,2e-6,4e-6,,100,5,40,0,$rest"
    echo "steps,mix:reference_count,heapdex,new,1,,,,,,80,0,$rest"
    echo "sql,shop:top,heapdex,new,1,0.1,0.02,,,,17000000,0,$rest"
    echo "sql,shop:by_id,heapdex,new,1,0.1,0.002,,,,,0,$rest"
    echo "leaks,shop:first,heapdex,new,1,2,2,0.5,469,5,,0,$rest"
    echo "leaks,shop:tight,heapdex,new,1,2,3,0.5,500,5,,0,$rest"
    echo "batch,30 dumps at 1024M,heapdex,new,1,60,90,6,524.3,3000000000,80,0,$rest"
    echo "batch,30 dumps at 1024M:anonymous,heapdex,new,1,60,,,209.7,,,0,$rest"
    echo "batch,30 dumps at 1024M:idle,heapdex,new,1,12,,24,,,,0,$rest"
    echo "forecast,a.hprof,estimate,new,1,2,,,100,5,6,0,$rest"
    echo "forecast,a.hprof,heapdex,new,1,5,4,1,90,5,6,0,$rest"
    echo "forecast,b.hprof,estimate,new,1,2,,,100,18,6,0,$rest"
    echo "forecast,b.hprof,heapdex,new,1,2,4,1,50,10,6,0,$rest"
    echo "forecast,c.hprof,estimate,new,1,0.1,,,99,90,6,0,$rest"
    echo "forecast,c.hprof,heapdex,new,1,0.1,0.1,0,100,100,6,0,$rest"
    echo "forecast,d.hprof,estimate,new,1,0.1,,,900,900,6,0,$rest"
    echo "forecast,d.hprof,heapdex,new,1,0.1,0.1,0,100,100,6,0,$rest"
} > "$folder/results.csv"
python3 "$bench/summary.py" "$folder/results.csv" > "$folder/page"
for wanted in "hprof-analyzer's wall time / ours | >= 7.00 | 7.00 | yes" \
    "mix: peak memory, MB | <= 1200 | 1300 | \*\*no\*\*" "bytes an object | <= 12.00 | 11.00 | yes" \
    "memory, lowest forecast / taken (c.hprof) | >= 1.00 | 0.99 | \*\*no\*\*" \
    "disk, lowest forecast / taken (c.hprof) | >= 1.00 | 0.90 | \*\*no\*\*" \
    "2 builds over a second: memory, highest forecast / taken (b.hprof) | <= 1.50 | 2.00 | \*\*no\*\*" \
    "2 builds over a second: disk, highest forecast / taken (b.hprof) | <= 1.50 | 1.80 | \*\*no\*\*" \
    "longest / forecast (a.hprof) | <= 1.50 | 2.50 | \*\*no\*\*" "| mix | references | 0.00 | 0.00 | 50 | 100 | 50 |" \
    "shop:top, million rows a second of CPU | >= 150.0 | 850.0 | yes" "shop:by_id, CPU | <= 1 ms | 2 ms | \*\*no\*\*" \
    "| shop:top | 20 ms | 100 ms | 17,000,000 | 850.0 |" \
    "shop:first: peak memory, MB | <= 600 | 469 | yes" "shop:tight: CPU, s | <= 3.00 | 3.50 | \*\*no\*\*" \
    "| 30 dumps at 1024M | 60.00 | 96.00 | 1,800 | 180 | 500 | 200 | 10.0 | 20 |" \
    "batch, 30 dumps at 1024M: peak, MiB | <= 1024 | 500 | yes" \
    "heapdex new; some processor, 2 cores, 24 GiB, 2026-01-01"; do
    grep -q "$wanted" "$folder/page" || { echo "no '$wanted' in" && cat "$folder/page" && exit 1; }
done

"$make" "$folder/many.hprof" objects=150001 > /dev/null
python3 "$bench/one_segment.py" "$folder/many.hprof" "$folder/one.hprof"
[ "$(stat -c %s "$folder/one.hprof")" -lt "$(stat -c %s "$folder/many.hprof")" ] ||
    { echo "no segment was joined"; exit 1; }
for dump in many one; do
    "$heapdex" histogram "$folder/$dump.hprof" --limit 0 --format csv > "$folder/$dump.csv" 2> "$folder/words"
    if [ -s "$folder/words" ]; then cat "$folder/words" && exit 1; fi # damage is a warning
done
cmp "$folder/many.csv" "$folder/one.csv"
"$heapdex" verify --full "$folder/one.hprof" > /dev/null

# Cores that there are not: 1 s alone; 2 s, then 4 s that four workers share, beside 3 s; 1 s alone.
cat > "$folder/timeline" <<'TIMELINE'
function,3,2,0,0,0,2000000000
call,5,4,workers,0,1000000000
function,6,5,0,0,0,1000000000
function,7,5,1,0,0,1000000000
function,8,5,2,0,0,1000000000
function,9,5,3,0,0,1000000000
function,4,2,1,1,0,1000000000
function,10,2,2,0,0,3000000000
call,2,1,tasks,1000000000,1000000000
function,1,0,0,0,0,2000000000
TIMELINE
python3 "$bench/shares.py" "$folder/timeline" 1 2 16 > "$folder/shares"
printf '%s\n' cores,wall_s,speedup,alone_share 1,11.000,1.00,0.182 2,6.500,1.69,0.182 16,5.000,2.20,0.182 |
    diff - "$folder/shares"
