/*
 * test_told.c - every row, title and extra of many comparisons of small heaps that grow, shrink and change, by their
 * checksums: told.txt has them (support/checksums.h). An ask is the dumps, a bar, and what is asked of them (asks.h).
 */
#include "cli/leaky.h"
#include "compare/pair.h"
#include "support/checksums.h"

typedef struct random_state {
    uint64_t state;
} random_state;

static uint32_t below(random_state *d, uint32_t n)
{
    d->state = d->state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(d->state >> 33) % n;
}

/*
 * Three class loaders, classes of five packages and of none, arrays of them, and some 200 objects that refer to each
 * other; `n` moves how many there are of each class, which of them have a class of their own, and where they lie.
 */
static void forest_save(const char *path, unsigned n)
{
    static const char *const names[] = { "app.Order",    "app.Item", "app.web.Page", "app.web.Session",
                                         "org.lib.Pool", "Lonely",   "java.util.X",  "app.Proxy$$Lambda$1" };
    dump_maker              *m = dump_maker_new(8);
    random_state             d = { 77 };
    uint64_t                 objects[400], classes[8], arrays[3], loaders[3];
    unsigned                 count = 0;
    m->time_ms = 1000000 + 1000 * n;
    m->next_id += 0x10000u * (n % 3);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I");
    const uint64_t loader = dump_maker_class(m, "java.lang.ClassLoader", object, "name:L parent:L");
    const uint64_t own = dump_maker_class(m, "app.OwnLoader", loader, "");
    for (unsigned i = 0; i < 3; i++) {
        loaders[i] =
            dump_maker_instance(m, i == 2 ? own : loader,
                                DUMP_VALUES(i == 0 ? 0 : dump_maker_string(m, string, i == 1 ? "web" : "lib"), 0));
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, loaders[i], 0, 0);
    }
    for (unsigned i = 0; i < 8; i++) {
        m->loader = i < 2 ? 0 : loaders[i % 3];
        classes[i] = dump_maker_class(m, names[i], object, i % 2 == 0 ? "a:L b:L n:I" : "a:L size:J");
    }
    m->loader = 0;
    arrays[0] = dump_maker_class(m, "java.lang.Object[]", object, "");
    arrays[1] = dump_maker_class(m, "app.Order[]", object, "");
    arrays[2] = dump_maker_class(m, "app.web.Page[][]", object, "");
    for (unsigned i = 0; i < 8; i++) {
        /* some grow, some shrink, some come and go, some stay */
        const unsigned many = i == 0   ? 5 + 7 * n
                              : i == 1 ? 40 - 6 * (n % 7)
                              : i == 2 ? 10 + (n % 2) * 9
                              : i == 5 ? (n % 3 == 1 ? 4 : 0)
                              : i == 7 ? n
                                       : 8;
        for (unsigned k = 0; k < many; k++) {
            const uint64_t a = count > 0 ? objects[below(&d, count)] : 0, b = count > 3 ? objects[below(&d, 3)] : 0;
            objects[count] = dump_maker_instance(m, classes[i], DUMP_VALUES(a, b, k));
            if (below(&d, 5) == 0)
                dump_maker_root(m, k % 2 == 0 ? HDX_SUB_ROOT_JNI_GLOBAL : HDX_SUB_ROOT_STICKY_CLASS, objects[count], 0,
                                0);
            count++;
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t array = dump_maker_array(m, arrays[i], objects + i * 20, 12 + 3 * n);
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, array, 0, 0);
    }
    if (n % 2 == 1) {
        const uint64_t more = dump_maker_class(m, n == 3 ? "new.Thing" : "app.Extra", object, "x:L");
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, more, DUMP_VALUES(objects[1])), 0, 0);
    }
    dump_maker_static(m, "first", 'L', objects[0]);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "app.Main", object, ""), 0, 0);
    dump_maker_save(m, path);
    dump_maker_free(m);
}

/* Another dump without its last bytes, or with zeros after them: damage of the one, a warning of the other. */
static void cut_save(const char *path, const char *of, size_t without, size_t zeros)
{
    static uint8_t bytes[1 << 20];
    FILE          *f = fopen(of, "rb");
    const size_t   n = fread(bytes, 1, sizeof bytes - zeros, f);
    fclose(f);
    f = fopen(path, "wb");
    memset(bytes + n, 0, zeros);
    cr_assert(eq(sz, fwrite(bytes, 1, n - without + zeros, f), n - without + zeros));
    fclose(f);
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    char        dumps[256];
    const char *bar = strchr(ask, '|');
    (void)context;
    cr_assert(bar != NULL && bar[1] == ' ' && bar - ask < 256, "%s", ask);
    (void)snprintf(dumps, sizeof dumps, "%.*s", (int)(bar - ask), ask);
    hdx_session *s = session_of(dumps);
    (void)asked_text(s, bar + 2, b);
    hdx_session_close(s);
    return b->len;
}

Test(told, comparisons_are_what_they_were)
{
    pair p;
    char name[16];
    pair_open(&p);
    for (unsigned n = 0; n < 8; n++) {
        (void)snprintf(name, sizeof name, "%u", n);
        forest_save(name, n);
    }
    cache_save("none", &(cache){ .entries = 0, .run = 1 });
    leaky_make("leaky", true);
    leaky_make("less", false);
    cut_save("cut", "4", 300, 0);
    cut_save("zeros", "5", 0, 20);
    checksums_check(HDX_TREE "/tests/compare/told.txt", text_of, NULL);
    pair_close(&p);
}
