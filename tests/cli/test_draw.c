/*
 * test_draw.c - profiles, treemaps and graphs (--format folded, speedscope, pprof, svg, dot): other programs can read
 * them, bytes add up to the live heap, and names of a heap stay text.
 */
#include "cli/dump_of_class.h"
#include "cli/tool.h"

#define LIVE "2788024" /* bytes of the bookshop that roots reach */

static char *folder;

static void enter(void)
{
    folder = tool_enter();
    tool_copy_bookshop("shop.hprof.gz");
}
static void leave(void) { tool_leave(folder); }
TestSuite(draw, .init = enter, .fini = leave);

static void expect_out(const char *command, const char *out)
{
    ran r = tool_sh("%s", command);
    cr_expect_str_eq(r.out, out, "%s: %s%s", command, r.out, r.err);
    ran_free(&r);
}

static void expect_refused(const char *command, const char *words)
{
    ran r = tool_sh("%s", command);
    cr_expect(eq(int, r.code, 2), "%s: %s", command, r.err);
    cr_expect(strstr(r.err, words) != NULL, "%s: %s", command, r.err);
    cr_expect_str_eq(r.out, "", "%s", command);
    ran_free(&r);
}

Test(draw, folded_stacks_add_up_to_the_live_heap)
{
    expect_out("\"$H\" dominators --merge shop.hprof.gz --format folded --quiet >f; awk '{s+=$NF} END{print s}' f; "
               "head -n 4 f",
               LIVE "\nbookshop.Bookshop$SessionCache 16\nbookshop.Bookshop$SessionCache;java.util.HashMap 48\n"
                    "bookshop.Bookshop$SessionCache;java.util.HashMap;java.util.HashMap$Node[] 2064\n"
                    "bookshop.Bookshop$SessionCache;java.util.HashMap;java.util.HashMap$Node[];java.util.HashMap$Node "
                    "6816\n");
    expect_out("for m in '--reverse' '--by package' '--by loader' '--least 0' '--depth 2' '--chains join'; do "
               "\"$H\" dominators --merge $m shop.hprof.gz --format folded --quiet | awk '{s+=$NF} END{print s}'; done",
               LIVE "\n" LIVE "\n" LIVE "\n" LIVE "\n" LIVE "\n" LIVE "\n");
}

Test(draw, below_an_object_is_what_it_retains)
{
    expect_out("o=$(\"$H\" objects shop.hprof.gz --class 'bookshop.Bookshop$SessionCache' --format csv --columns "
               "address,shallow,retained --quiet | tail -n 1); "
               "\"$H\" dominators --merge shop.hprof.gz ${o%%,*} --format folded --quiet | "
               "awk -v o=\"$o\" '{s+=$NF} END{split(o, c, \",\"); print s + c[2] == c[3]}'",
               "1\n");
}

Test(draw, speedscope_has_a_weight_for_each_stack_and_every_frame_once)
{
    expect_out("\"$H\" dominators --merge shop.hprof.gz --format speedscope --quiet >s; python3 -c \"\n"
               "import json\n"
               "d = json.load(open('s')); p = d['profiles'][0]; names = [f['name'] for f in d['shared']['frames']]\n"
               "print(sum(p['weights']), p['endValue'], p['unit'], p['type'], len(p['weights']) == len(p['samples']))\n"
               "print(len(set(names)) == len(names), names[p['samples'][0][0]], d['name'])\n"
               "print(';'.join(names[i] for i in p['samples'][2]), p['weights'][2])\"",
               LIVE " " LIVE " bytes sampled True\n"
                    "True bookshop.Bookshop$SessionCache shop.hprof.gz: dominator tree by class path\n"
                    "bookshop.Bookshop$SessionCache;java.util.HashMap;java.util.HashMap$Node[] 2064\n");
}

Test(draw, pprof_has_the_stacks_of_the_folded_form)
{
    /* Reads the fields of profile.proto that describe stacks; a stack begins with its innermost frame. */
    expect_out("\"$H\" dominators --merge shop.hprof.gz --format pprof -o p.pb.gz --quiet; "
               "\"$H\" dominators --merge shop.hprof.gz --format folded -o f --quiet; cat >read.py <<'E'\n"
               "import gzip\n"
               "def varint(b, i):\n"
               "    v = s = 0\n"
               "    while True:\n"
               "        v |= (b[i] & 127) << s; s += 7; i += 1\n"
               "        if b[i - 1] < 128: return v, i\n"
               "def fields(b):\n"
               "    i = 0\n"
               "    while i < len(b):\n"
               "        key, i = varint(b, i); v, i = varint(b, i)\n"
               "        if key & 7 == 2: v, i = b[i:i + v], i + v\n"
               "        yield key >> 3, v\n"
               "def packed(b):\n"
               "    i, out = 0, []\n"
               "    while i < len(b):\n"
               "        v, i = varint(b, i); out.append(v)\n"
               "    return out\n"
               "top = list(fields(gzip.open('p.pb.gz').read()))\n"
               "text = [v.decode() for k, v in top if k == 6]\n"
               "types = [dict(fields(v)) for k, v in top if k == 1]\n"
               "print([(text[t[1]], text[t[2]]) for t in types], text[[v for k, v in top if k == 14][0]])\n"
               "name = {d[1]: text[d[2]] for d in (dict(fields(v)) for k, v in top if k == 5)}\n"
               "line = {d[1]: dict(fields(d[4]))[1] for d in (dict(fields(v)) for k, v in top if k == 4)}\n"
               "stacks, bytes = [], 0\n"
               "for d in (dict(fields(v)) for k, v in top if k == 2):\n"
               "    objects, own = packed(d[2]); bytes += own\n"
               "    if own: stacks.append(';'.join(name[line[l]] for l in reversed(packed(d[1]))) + ' %d' % own)\n"
               "print(bytes, stacks == open('f').read().splitlines(), len(stacks) > 100)\n"
               "E\npython3 read.py",
               "[('objects', 'count'), ('retained', 'bytes')] retained\n" LIVE " True True\n");
}

Test(draw, a_treemap_is_a_whole_picture_and_fills_its_area)
{
    expect_out("\"$H\" dominators --merge shop.hprof.gz --format svg -o m.svg --quiet; python3 -c \"\n"
               "import xml.etree.ElementTree as x\n"
               "t = x.parse('m.svg').getroot(); n = '{http://www.w3.org/2000/svg}'\n"
               "print(t.find(n + 'title').text, t.get('viewBox'))\n"
               "r = [g.find(n + 'rect') for g in t.findall(n + 'g')]\n"
               "a = [tuple(float(e.get(k)) for k in ('x', 'y', 'width', 'height')) for e in r]\n"
               "print(max(p[0] + p[2] for p in a), max(p[1] + p[3] for p in a))\n"
               "print(any('SessionCache' in (e.text or '') for e in t.iter(n + 'text')), "
               "any((e.text or '').endswith(' 1.9 MB') for e in t.iter(n + 'text')))\"",
               "shop.hprof.gz: dominator tree by class path 0 0 1000 588\n1000.0 560.0\nTrue True\n");
}

Test(draw, a_graph_has_each_object_of_paths_once)
{
    ran r =
        tool_sh("\"$H\" path shop.hprof.gz --class 'bookshop.Bookshop$SessionCache' --paths 3 --format dot --quiet");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strstr(r.out, "\\n0xfeb18ea8\\nretains 1.9 MB\", style=bold];") != NULL, "%s", r.out);
    const char *first = strstr(r.out, "0xfeb18ea8");
    cr_expect(first != NULL && strstr(first + 1, "0xfeb18ea8") == NULL);
    cr_expect(strstr(r.out, "  n3 -> n4 [label=\"appClass\"];\n") != NULL, "%s", r.out);
    ran_free(&r);
    expect_out("\"$H\" path shop.hprof.gz --class 'bookshop.Bookshop$Session' --merge --format dot --quiet | "
               "grep -c -e '213 x bookshop' -e 'n8 -> n9 .label=\"value\"'",
               "2\n");
}

Test(draw, a_graph_of_references_points_to_or_from_the_object)
{
    expect_out("for d in --in --out; do \"$H\" refs shop.hprof.gz class:java.lang.Object $d --limit 1 --format dot "
               "--quiet | grep -e '->' -e bold; done",
               "  n0 [label=\"java.lang.Class\\nclass java.lang.Object\\n0xfeaa0770\\nretains 40 B\", style=bold];\n"
               "  n1 -> n0 [label=\"<class>\"];\n"
               "  n0 [label=\"java.lang.Class\\nclass java.lang.Object\\n0xfeaa0770\\nretains 40 B\", style=bold];\n"
               "  n0 -> n1 [label=\"<class>\"];\n");
    expect_refused("\"$H\" refs shop.hprof.gz class:java.lang.Object --in --format dot --quiet",
                   "a graph of more than 200 objects is too large to be legible");
    expect_out(
        "\"$H\" refs shop.hprof.gz class:java.lang.Object --in --limit 199 --format dot --quiet | grep -c -e '->'",
        "199\n");
}

Test(draw, what_is_no_merged_tree_is_refused)
{
    expect_refused("\"$H\" dominators shop.hprof.gz --format folded", "add --merge");
    expect_refused("\"$H\" dominators shop.hprof.gz --merge --where 'depth = 0' --format pprof",
                   "--format pprof and --where cannot be used together");
    expect_refused("\"$H\" dominators shop.hprof.gz --merge --limit 3 --format svg",
                   "--format svg and --limit cannot be used together");
    expect_refused("\"$H\" refs shop.hprof.gz class:java.lang.Object --by class --format dot",
                   "--format dot and --by cannot be used together");
    expect_refused("\"$H\" path shop.hprof.gz class:java.lang.Object --columns step --format dot",
                   "--format dot and --columns cannot be used together");
    expect_refused("\"$H\" histogram shop.hprof.gz --format dot", "dot");
}

Test(draw, hostile_names_stay_text_in_every_format)
{
    save_dump_of_class("bad.hprof", "a;b \"]<script>\\\xe2\x80\xae\n'&");
    expect_out("\"$H\" dominators --merge bad.hprof --format folded --quiet | head -n 1",
               "a:b \"]<script>\\\\xe2\\x80\\xae\\x0a'& 24\n");
    expect_out("\"$H\" dominators --merge bad.hprof --format speedscope --quiet | python3 -c 'import json,sys; "
               "print(json.load(sys.stdin)[\"shared\"][\"frames\"][1][\"name\"])'",
               "a;b \"]<script>\\\\xe2\\x80\\xae\\x0a'&\n");
    expect_out("\"$H\" dominators --merge bad.hprof --format svg --quiet >m.svg; grep -c '<script' m.svg; "
               "python3 -c \"import xml.dom.minidom as m; m.parse('m.svg')\"",
               "0\n");
    expect_out("\"$H\" refs bad.hprof 0x1000 --format dot --quiet | grep bold",
               "  n0 [label=\"a;b \\\"]<script>\\\\\\\\xe2\\\\x80\\\\xae\\\\x0a'&\\n0x1000\\nretains 4.9 KB\", "
               "style=bold];\n");
}
