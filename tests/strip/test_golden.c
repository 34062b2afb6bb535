/*
 * test_golden.c - every dump of the reference collection (../shared beside this tree; skipped where it is not) through
 * every policy and back: stripped, recognised, indexed, restored, indexed. Objects that are there have the same class,
 * array length and references as in the whole dump; paths to them that need nothing else are the same.
 */
#include "android_dump.h"
#include "support/whole.h"

#define DUMPS HDX_TREE "/../shared/golden/dumps"
#define MOST  (test_each(2) == 2 ? 400u << 10 : 1u << 30) /* bytes of a packed dump */

static const hdx_strip_policy policies[] = { HDX_STRIP_MATRIX, HDX_STRIP_KOOM, HDX_STRIP_TAILOR, HDX_STRIP_SHARK,
                                             HDX_STRIP_REDACTED };

static hdx_graph *graph_of(const char *path, const char *index_dir, hdx_step until)
{
    hdx_index_options o = { .dump = path, .index_dir = index_dir, .until = until, .threads = 1 };
    hdx_index_report  report;
    hdx_graph        *g;
    hdx_error         err = { 0 };
    cr_assert(hdx_index_build(&o, &report, &err) == HDX_OK, "%s: %s", path, err.message);
    cr_assert(hdx_graph_open(report.path, path, &g, &err) == HDX_OK, "%s: %s", path, err.message);
    return g;
}

/* Does a thread hold locals? Without thread serials (Tailor) they are roots of their own. */
static bool holds_locals(hdx_graph *g, hdx_id id)
{
    uint64_t        count;
    const hdx_root *roots = hdx_graph_roots(g, &count);
    for (uint64_t i = 0; i < count; i++)
        if (roots[i].thread == id)
            return true;
    return false;
}

/* Everything in `part` is in `whole`, the same; references lead to what is in both. *count: objects compared. */
static void compare(const char *what, hdx_graph *part, hdx_graph *whole, bool equal)
{
    const uint64_t n = hdx_graph_objects(part);
    uint64_t       bad = 0;
    if (equal)
        cr_expect(n == hdx_graph_objects(whole), "%s: %llu objects of %llu", what, (unsigned long long)n,
                  (unsigned long long)hdx_graph_objects(whole));
    for (hdx_id id = 0; id < n && bad < 5; id++) {
        hdx_id id2, a, b;
        if (!hdx_graph_find(whole, hdx_graph_address(part, id), &id2)) {
            bad++;
            cr_expect(false, "%s: 0x%llx is not in the whole dump", what,
                      (unsigned long long)hdx_graph_address(part, id));
            continue;
        }
        const hdx_class *c = hdx_graph_class(part, hdx_graph_class_of(part, id)),
                        *d = hdx_graph_class(whole, hdx_graph_class_of(whole, id2));
        bool good =
            c != NULL && d != NULL && c->name.len == d->name.len && memcmp(c->name.at, d->name.at, c->name.len) == 0;
        good = good && hdx_graph_length(part, id) == hdx_graph_length(whole, id2);
        hdx_refs x, y;
        hdx_graph_outbound(part, id, HDX_ALL, &x);
        hdx_graph_outbound(whole, id2, HDX_ALL, &y);
        bool more = hdx_refs_next(&x, &a);
        if (more && a == 0 && !equal) /* the loader of a class was dropped: the boot loader stands for it (MAT 1.5) */
            more = hdx_refs_next(&x, &a);
        while (good && hdx_refs_next(&y, &b)) {
            hdx_id there;
            if (!hdx_graph_find(part, hdx_graph_address(whole, b), &there) || (b == 0 && !equal))
                continue;
            good = more && hdx_graph_address(part, a) == hdx_graph_address(whole, b);
            more = hdx_refs_next(&x, &a);
            if (more && a == 0 && !equal)
                more = hdx_refs_next(&x, &a);
        }
        if ((!good || more) && !holds_locals(whole, id2)) {
            bad++;
            cr_expect(false, "%s: 0x%llx differs", what, (unsigned long long)hdx_graph_address(part, id));
        }
    }
    cr_expect(hdx_graph_check(part, NULL) == HDX_OK);
}

static void check_dump(const char *path, const char *name)
{
    place      p = place_new();
    char       dirs[3][200];
    hdx_graph *whole;
    cr_expect(policy_of_file(path) == HDX_STRIP_NONE, "%s", name);
    for (unsigned i = 0; i < 3; i++)
        (void)snprintf(dirs[i], sizeof dirs[i], "%s/index-%u", p.folder, i);
    whole = graph_of(path, dirs[0], HDX_STEP_OUTBOUND);
    const hdx_graph_summary *s = hdx_graph_summary_of(whole);
    for (unsigned k = 0; k < 5; k++) {
        const char            *out = place_path(&p, "out.hprof"), *back = place_path(&p, "back.hprof");
        char                   what[320];
        hdx_strip_report       r;
        hdx_error              err = { 0 };
        const hdx_strip_policy policy = policies[k];
        (void)snprintf(what, sizeof what, "%s, %s", name, hdx_strip_name(policy));
        const hdx_code code = strip_to(path, policy, out, &r, &err);
        if (policy == HDX_STRIP_TAILOR && s->id_size == 8) {
            cr_expect(code == HDX_BAD_DUMP && access(out, F_OK) != 0, "%s", what);
            continue;
        }
        cr_assert(code == HDX_OK, "%s: %s", what, err.message);
        const hdx_strip_policy seen = policy_of_file(out);
        cr_expect(seen == policy || (policy == HDX_STRIP_MATRIX && seen == HDX_STRIP_NONE), "%s: recognised as %s",
                  what, hdx_strip_name(seen));
        const bool all = policy == HDX_STRIP_TAILOR || policy == HDX_STRIP_SHARK || policy == HDX_STRIP_REDACTED;
        hdx_graph *g = graph_of(out, dirs[1], HDX_STEP_OUTBOUND);
        cr_expect(hdx_graph_summary_of(g)->damage_count == 0 && hdx_graph_summary_of(g)->stripping->policy == seen,
                  "%s", what);
        /* Matrix lets equal bitmaps share their pixels: references change on purpose */
        if (policy != HDX_STRIP_MATRIX || r.merged == 0)
            compare(what, g, whole, all);
        if (policy == HDX_STRIP_KOOM || policy == HDX_STRIP_TAILOR) {
            cr_assert(restore_to(out, back, &r, &err) == HDX_OK, "%s: %s", what, err.message);
            /* KOOM runs on Android alone: the zeros of another dump are redaction */
            const bool jvm = strcmp(s->version, "1.0.3") != 0;
            cr_expect(policy_of_file(back) == (jvm && policy == HDX_STRIP_KOOM ? HDX_STRIP_REDACTED : policy),
                      "%s: restored", what);
            hdx_graph *h = graph_of(back, dirs[2], HDX_STEP_OUTBOUND);
            compare(what, h, g, true);
            hdx_graph_close(h);
            cr_assert(unlink(back) == 0);
        } else
            cr_expect(restore_to(out, back, &r, &err) == HDX_BAD_DUMP && access(back, F_OK) != 0,
                      "%s: nothing to restore", what);
        hdx_graph_close(g);
        cr_assert(unlink(out) == 0);
    }
    hdx_graph_close(whole);
    place_remove(&p);
}

Test(golden, every_dump_through_every_policy_and_back)
{
    DIR     *folder = opendir(DUMPS);
    unsigned seen = 0;
    if (folder == NULL)
        cr_skip("no reference collection beside this tree");
    for (struct dirent *e; (e = readdir(folder)) != NULL;) {
        char        path[600];
        struct stat info;
        (void)snprintf(path, sizeof path, DUMPS "/%.255s", e->d_name);
        if (strstr(e->d_name, ".hprof.gz") == NULL || stat(path, &info) != 0 || info.st_size > MOST)
            continue;
        check_dump(path, e->d_name);
        seen++;
    }
    (void)closedir(folder);
    cr_expect(seen > 5, "%u dumps", seen);
}

/* STRIP 6.2: a path that runs through objects that were kept is the path of the whole dump. */
Test(golden, paths_of_a_real_dump_cut_by_koom_are_those_of_the_whole_one)
{
    const char *dump = DUMPS "/dialer.hprof.gz";
    if (access(dump, R_OK) != 0)
        cr_skip("no reference collection beside this tree");
    place            p = place_new();
    const char      *out = place_path(&p, "dialer.hprof"), *dirs[2] = { place_path(&p, "a"), place_path(&p, "b") };
    hdx_strip_report r;
    hdx_error        err = { 0 };
    cr_assert(strip_to(dump, HDX_STRIP_KOOM, out, &r, &err) == HDX_OK, "%s", err.message);
    hdx_graph *whole = graph_of(dump, dirs[0], (hdx_step)0), *cut = graph_of(out, dirs[1], (hdx_step)0);
    uint64_t   same_paths = 0, needs_dropped = 0;
    for (hdx_id id = 1; id < hdx_graph_objects(cut); id++) {
        hdx_id a, b = id, there;
        cr_assert(hdx_graph_find(whole, hdx_graph_address(cut, id), &a));
        if (!hdx_graph_live(whole, a))
            continue;
        bool kept = true;
        for (hdx_id at = a; kept; at = hdx_graph_nearest(whole, at)) {
            kept = hdx_graph_find(cut, hdx_graph_address(whole, at), &there);
            if (hdx_graph_nearest(whole, at) == at)
                break;
        }
        if (!kept) {
            needs_dropped++;
            continue;
        }
        for (;;) {
            cr_assert(hdx_graph_live(cut, b) && hdx_graph_address(cut, b) == hdx_graph_address(whole, a), "0x%llx",
                      (unsigned long long)hdx_graph_address(cut, id));
            if (hdx_graph_nearest(whole, a) == a)
                break;
            a = hdx_graph_nearest(whole, a);
            b = hdx_graph_nearest(cut, b);
        }
        same_paths++;
    }
    cr_expect(same_paths > 4000 && needs_dropped < 100, "%llu the same, %llu need what was dropped",
              (unsigned long long)same_paths, (unsigned long long)needs_dropped);
    hdx_graph_close(whole);
    hdx_graph_close(cut);
    place_remove(&p);
}
