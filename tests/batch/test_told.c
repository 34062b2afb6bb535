/*
 * test_told.c - what is decided and read without any process: which dump is next, how dumps are dealt, forecasts, what
 * inputs name, what manifests say, statuses. told.txt has the checksums (support/checksums.h).
 */
#include "batch/batch.h"
#include "support/checksums.h"
#include "support/folder.h"

#include <ctype.h>
#include <sys/stat.h>
#include <unistd.h>

#define MB (1ull << 20)

static uint64_t   random_state;
static char       folder[TEST_FOLDER];
static hdx_buffer said;

static uint32_t below(uint32_t n)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(random_state >> 33) % n;
}

static void put(const char *path, const char *text, size_t len)
{
    FILE *f = fopen(path, "wb");
    cr_assert(f != NULL, "%s", path);
    cr_assert(fwrite(text, 1, len, f) == len);
    (void)fclose(f);
}

/* ---- plans ---- */

static uint64_t some_memory(void)
{
    switch (below(9)) {
    case 0: return UINT64_MAX - below(3);
    case 1: return 0;
    case 2: return below(100);
    default: break;
    }
    const uint64_t parts = 1 + below(3); /* each draw in a statement of its own: compilers order them as they like */
    return (1 + below(1000)) * MB / parts;
}

static void plan(hdx_buffer *b)
{
    for (unsigned round = 0; round < 20; round++) {
        batch_room    room = { .threads = below(9) };
        batch_want    waiting[8];
        batch_running running[6];
        size_t        orders[8];
        const size_t  count = below(8);
        const size_t  running_count = below(6);
        room.memory = some_memory();
        for (size_t i = 0; i < count; i++) {
            waiting[i].memory = some_memory();
            waiting[i].least = some_memory();
            waiting[i].least /= 1 + below(4);
            waiting[i].disk = some_memory();
            waiting[i].disk_free = some_memory();
            orders[i] = i == 0 ? below(4) : orders[i - 1] + 1 + below(3);
        }
        for (size_t i = 0; i < running_count; i++) {
            running[i].order = below(12);
            running[i].threads = 1 + below(3);
            running[i].memory = some_memory();
        }
        const batch_choice c = hdx_batch_plan_next(&room, waiting, orders, count, running, running_count);
        hdx_buffer_format(b, "%d %zu %u %llu\n", c.fit, c.place, c.threads, (unsigned long long)c.memory);
    }
}

/* Memory is short: what waits for it keeps some for itself, and smaller ones fill the gap. */
static void fit(hdx_buffer *b)
{
    for (unsigned round = 0; round < 30; round++) {
        batch_room    room;
        batch_want    waiting[6] = { { 0 } };
        batch_running running[4];
        size_t        orders[6];
        const size_t  count = 1 + below(6);
        const size_t  running_count = below(5);
        room.threads = 1 + below(8);
        room.memory = (4 + below(36)) * 4 * MB;
        for (size_t i = 0; i < count; i++) {
            waiting[i].least = below(10) * 4 * MB + below(3);
            waiting[i].memory = waiting[i].least + below(8) * 4 * MB;
            waiting[i].disk = below(4);
            waiting[i].disk_free = 2;
            orders[i] = i == 0 ? below(4) : orders[i - 1] + 1 + below(2);
        }
        for (size_t i = 0; i < running_count; i++) {
            running[i].order = below(10);
            running[i].threads = 1 + below(2);
            running[i].memory = below(12) * 4 * MB;
        }
        const batch_choice c = hdx_batch_plan_next(&room, waiting, orders, count, running, running_count);
        hdx_buffer_format(b, "%d %zu %u %llu\n", c.fit, c.place, c.threads, (unsigned long long)c.memory);
    }
}

/* Among them equal ones; then those of a run that comes later, of which some are new. */
static const hdx_access like = { .mode = 0600 };

static void deal(hdx_buffer *b)
{
    batch_weight   at[20], later[24];
    char           ids[24][32];
    hdx_arena      arena = hdx_arena_of(NULL);
    hdx_error      err = { .offset = HDX_NOWHERE };
    const size_t   count = below(20), more = below(4);
    const unsigned tasks = 1 + below(6);
    char           path[64];
    for (size_t i = 0; i < count + more; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "d%u-%zu", below(100), i);
        later[i] = (batch_weight){ ids[i], (double)below(9) / 4, i, 77 };
    }
    memcpy(at, later, count * sizeof *at);
    hdx_batch_plan_deal(at, count, below(8) == 0 ? 0 : tasks);
    for (size_t i = 0; i < count; i++)
        hdx_buffer_format(b, "%s %zu %u\n", at[i].id, at[i].place, at[i].task);
    memcpy(at, later, count * sizeof *at);
    hdx_batch_plan_order(at, count);
    for (size_t i = 0; i < count; i++)
        hdx_buffer_format(b, "%s ", at[i].id);
    (void)snprintf(path, sizeof path, "deal-%u.jsonl", tasks);
    (void)unlink(path);
    memcpy(at, later, count * sizeof *at);
    cr_assert(hdx_batch_deal(".", at, count, tasks, &like, &arena, &err) == HDX_OK, "%s", err.message);
    for (size_t i = 0; i < count; i++)
        hdx_buffer_format(b, "%s %u, ", at[i].id, at[i].task);
    cr_assert(hdx_batch_deal(".", later, count + more, tasks, &like, &arena, &err) == HDX_OK, "%s", err.message);
    for (size_t i = 0; i < count + more; i++)
        hdx_buffer_format(b, "%s %u, ", later[i].id, later[i].task);
    hdx_arena_free(&arena);
}

/* ---- files of lines ---- */

static void put_file(hdx_buffer *b, const char *path)
{
    hdx_arena   arena = hdx_arena_of(NULL);
    size_t      len;
    const char *text = hdx_batch_file_read(&arena, path, 1 << 20, &len);
    hdx_buffer_format(b, "%s: ", path);
    if (text != NULL)
        hdx_buffer_put(b, text, len);
    hdx_arena_free(&arena);
}

static void kept(hdx_buffer *b, const char *text, size_t len)
{
    hdx_arena        arena = hdx_arena_of(NULL);
    hdx_error        err = { .offset = HDX_NOWHERE };
    batch_saved_list list = { 0 };
    put("plan.jsonl", text, len);
    cr_assert(hdx_batch_plan_read(".", &arena, &list, &err) == HDX_OK);
    for (uint64_t i = 0; i < list.count; i++)
        for (unsigned k = 0; k < 3; k++)
            hdx_buffer_format(b, "%s %g\n", list.at[i].id,
                              hdx_batch_forecast_step(&list.at[i].forecast, k == 0   ? "scan"
                                                                            : k == 1 ? "columns"
                                                                                     : "s"));
    cr_assert(hdx_batch_plan_write(".", &list, &like, &err) == HDX_OK);
    put_file(b, "plan.jsonl");
    hdx_list_free(NULL, HDX_LIST_REF(&list));
    hdx_arena_free(&arena);
}

static void dealt(hdx_buffer *b, const char *text, size_t len)
{
    batch_weight at[] = { { "a", 3, 0, 9 }, { "b", 2, 1, 9 }, { "c", 1, 2, 9 }, { "d", 1, 3, 9 } };
    hdx_arena    arena = hdx_arena_of(NULL);
    hdx_error    err = { .offset = HDX_NOWHERE };
    put("deal-3.jsonl", text, len);
    cr_assert(hdx_batch_deal(".", at, 4, 3, &like, &arena, &err) == HDX_OK);
    for (unsigned i = 0; i < 4; i++)
        hdx_buffer_format(b, "%s %zu %u\n", at[i].id, at[i].place, at[i].task);
    put_file(b, "deal-3.jsonl");
    (void)unlink("deal-3.jsonl");
    hdx_arena_free(&arena);
}

/* ---- inputs ---- */

static void say(void *context, const char *line)
{
    (void)context;
    hdx_buffer_format(&said, "%s\n", line);
}

/* A hash of where a file is, in an id, is of the folder of this run: # stands for each of its digits. */
static void put_masked(hdx_buffer *b, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        const size_t here = strlen(folder), hex = *at == '-' ? strspn(at + 1, "0123456789abcdef") : 0;
        if (strncmp(at, folder, here) == 0) {
            hdx_buffer_text(b, "$");
            at += here - 1;
        } else if (hex == 8 || hex == 16) {
            hdx_buffer_put(b, "-################", hex + 1);
            at += hex;
        } else {
            hdx_buffer_put(b, at, 1);
        }
    }
    hdx_buffer_text(b, "\n");
}

static void inputs(hdx_buffer *b, const char *text)
{
    const char       *words[16];
    char              copy[512];
    hdx_arena         arena = hdx_arena_of(NULL);
    hdx_error         err = { .offset = HDX_NOWHERE };
    batch_dumps       d = { 0 };
    hdx_batch_options o = { .inputs = words };
    (void)snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok(copy, " "); word != NULL && o.input_count < 16; word = strtok(NULL, " "))
        words[o.input_count++] = strcmp(word, "''") == 0 ? "" : word;
    hdx_buffer_clear(&said);
    hdx_buffer_text(&said, "");
    const hdx_code code = hdx_batch_inputs(&o, &arena, &d, say, NULL, &err);
    hdx_buffer_format(b, "%s: ", hdx_code_name(code));
    put_masked(b, code != HDX_OK ? err.message : "");
    put_masked(b, code != HDX_OK ? err.where : "");
    put_masked(b, code != HDX_OK ? err.hint : "");
    put_masked(b, said.at);
    for (uint64_t i = 0; i < d.count; i++) {
        hdx_buffer_format(b, "%d ", hdx_batch_is_id(d.at[i].id));
        put_masked(b, d.at[i].id);
        put_masked(b, d.at[i].path);
        put_masked(b, d.at[i].whole);
        for (size_t k = 0; k < d.at[i].field_count; k++)
            hdx_buffer_format(b, "%s=%s%s ", d.at[i].fields[k].key, d.at[i].fields[k].value,
                              d.at[i].fields[k].text ? "" : " (no text)");
        const char *floor = hdx_batch_field(&d.at[i], "floor");
        hdx_buffer_format(b, "%s\n", floor != NULL ? floor : "-");
    }
    hdx_list_free(NULL, HDX_LIST_REF(&d));
    hdx_arena_free(&arena);
}

static void make_tree(void)
{
    static const char *const folders[] = { "d",
                                           "d/e",
                                           "d/e/f",
                                           "d/idx.hprof.hdx",
                                           "d/other.hdx",
                                           "d/.heapdex-part-x.hdx",
                                           "d/e/sum.folder",
                                           "m",
                                           "empty",
                                           "d/hprof",
                                           "i1",
                                           ".heapdex-part-i2.hdx",
                                           "n",
                                           "n/i3",
                                           "n/i4",
                                           "n/i5.hdx" };
    static const char *const files[] = {
        "d/b.hprof",
        "d/a.hprof.gz",
        "d/.hprof",
        "d/.hprof.gz",
        "d/z",
        "d/Z9.hprof.zip",
        "d/e/a.hprof.gz",
        "d/e/-b.hprof",
        "d/e/a b.hprof",
        "d/e/\xc3\xa9.hprof",
        "d/e/f/_c.hprof",
        "d/e/f/[x].hprof",
        "d/e/f/{Zz}@`.hprof",
        "d/idx.hprof.hdx/catalog.mdb",
        "d/idx.hprof.hdx/c.hprof",
        "d/other.hdx/d.hprof",
        "d/.heapdex-part-x.hdx/e.hprof",
        "d/e/sum.folder/catalog.sum",
        "d/e/sum.folder/f.hprof",
        "i1/catalog.sum",
        "n/i3/catalog.sum",
        "n/i4/catalog.mdb",
        "d/hprof/g.hprof",
        "d/0123456789012345678901234567890123456789012345678901234567890123456789.hprof"
    };
    for (size_t i = 0; i < HDX_COUNT(folders); i++)
        cr_assert(mkdir(folders[i], 0777) == 0);
    for (size_t i = 0; i < HDX_COUNT(files); i++)
        put(files[i], "", 0);
    cr_assert(symlink(".", "d/loop") == 0 && symlink("b.hprof", "d/link.hprof") == 0 &&
              symlink("absent", "d/broken.hprof") == 0 && symlink("e", "d/folder.hprof") == 0);
}

/* ---- statuses ---- */

static const char *some_text(void)
{
    static const char *const texts[] = { NULL, "", "a", "two words", "\"quoted\" \\ back", "\xc3\xa9\n\t\x01", "/a/b" };
    return texts[below(HDX_COUNT(texts))];
}

static uint64_t some_number(void) { return below(5) == 0 ? 0 : below(5) == 0 ? UINT64_MAX : below(1u << 31); }

static void put_status(hdx_buffer *b, const batch_status *s)
{
    const char *const texts[] = { s->dump, s->kind,  s->error, s->hint,   s->damage,
                                  s->step, s->index, s->asked, s->tables, s->manifest };
    const double      reals[] = { s->step_forecast, s->seconds, s->cpu_seconds, s->forecast_seconds };
    const uint64_t    numbers[] = { s->state,
                                    s->step_attempts,
                                    s->damage_places,
                                    s->peak_memory,
                                    s->memory,
                                    s->threads,
                                    s->file_size,
                                    s->mtime_ns,
                                    s->objects,
                                    s->live_objects,
                                    s->references,
                                    s->index_bytes,
                                    s->reused,
                                    s->dropped,
                                    s->ended_ms,
                                    s->forecast_memory,
                                    s->least_memory,
                                    s->forecast_disk,
                                    (uint64_t)(int64_t)s->exit_code };
    for (size_t i = 0; i < HDX_COUNT(texts); i++)
        hdx_buffer_format(b, "%s|", texts[i] != NULL ? texts[i] : "-");
    for (size_t i = 0; i < HDX_COUNT(reals); i++)
        hdx_buffer_format(b, "%g|", reals[i]);
    for (size_t i = 0; i < HDX_COUNT(numbers); i++)
        hdx_buffer_format(b, "%llu|", (unsigned long long)numbers[i]);
    hdx_buffer_text(b, "\n");
}

static void status(hdx_buffer *b)
{
    hdx_flat_pair fields[3] = { { "floor", "3", false }, { "name", "a \"shop\"", true }, { "x", "true", false } };
    batch_dump    d = { .id = "one", .path = "d/one.hprof", .whole = "/d/one.hprof", .fields = fields };
    batch_status  s = { .dump = d.whole };
    d.field_count = below(4);
    s.state = (batch_state)below(BATCH_PLANNED + 1);
    s.exit_code = (int)below(140);
    s.kind = some_text();
    s.error = some_text();
    s.hint = some_text();
    s.damage_places = some_number();
    s.damage = some_text();
    s.step = some_text();
    s.step_attempts = below(4);
    s.step_forecast = below(100) / 8.0;
    s.seconds = below(10000) / 16.0;
    s.cpu_seconds = below(10000) / 16.0;
    s.forecast_seconds = below(100) / 4.0;
    s.peak_memory = some_number();
    s.memory = some_number();
    s.forecast_memory = some_number();
    s.least_memory = some_number();
    s.forecast_disk = some_number();
    s.threads = below(9);
    s.file_size = some_number();
    s.mtime_ns = some_number();
    s.objects = some_number();
    s.live_objects = some_number();
    s.references = some_number();
    s.index_bytes = some_number();
    s.index = some_text();
    s.reused = below(2);
    s.dropped = below(2);
    s.asked = some_text();
    s.tables = some_text();
    s.not_dropped = s.tables;
    s.ended_ms = some_number();

    hdx_arena    arena = hdx_arena_of(NULL);
    hdx_error    err = { .offset = HDX_NOWHERE };
    batch_status again = { .state = BATCH_NEW };
    cr_assert(hdx_batch_status_write(".", &d, &s, below(2), &err) == HDX_OK, "%s", err.message);
    put_file(b, "status/one.json");
    put_status(b, &s);
    const bool there = hdx_batch_status_read(".", "one", &arena, &again);
    hdx_buffer_format(b, "%d ", there);
    if (there)
        put_status(b, &again);
    for (d.field_count = 0; there && d.field_count < 4; d.field_count++)
        hdx_buffer_format(b, "%d ", hdx_batch_status_has_fields(&again, &d));
    hdx_arena_free(&arena);
}

static void status_of(hdx_buffer *b, const char *text, size_t len)
{
    hdx_flat_pair field = { "floor", "3", false };
    batch_dump    d = { .id = "two", .path = "two.hprof", .fields = &field, .field_count = 1 };
    hdx_arena     arena = hdx_arena_of(NULL);
    batch_status  s = { .state = BATCH_NEW };
    put("status/two.json", text, len);
    const bool there = hdx_batch_status_read(".", "two", &arena, &s);
    hdx_buffer_format(b, "%d ", there);
    if (there) {
        put_status(b, &s);
        hdx_buffer_format(b, "%d", hdx_batch_status_has_fields(&s, &d));
    }
    hdx_arena_free(&arena);
}

/* ---- summaries ---- */

static bool put_out(void *context, const char *bytes, size_t len)
{
    hdx_buffer_put(context, bytes, len);
    return true;
}

static void sum_up(hdx_buffer *b)
{
    hdx_flat_pair     field = { "application", "shop", true };
    batch_dump        dumps[3] = { { .id = "a", .path = "d/a.hprof", .whole = "/d/a.hprof" },
                                   { .id = "b", .path = "b.hprof", .whole = "/b.hprof", &field, 1 },
                                   { .id = "c", .path = "c", .whole = "/c" } };
    batch_status      s[3];
    batch_row         at[3];
    hdx_batch_options o = { .out = "o" };
    const size_t      count = below(4);
    hdx_error         err = { .offset = HDX_NOWHERE };
    hdx_rows         *rows;
    uint64_t          numbers[6];
    for (size_t i = 0; i < HDX_COUNT(numbers); i++)
        numbers[i] = below(3);
    const hdx_batch_counts counts = { .dumps = below(3),
                                      .done = numbers[0],
                                      .skipped = numbers[1],
                                      .failed = numbers[2],
                                      .interrupted = numbers[3],
                                      .held = numbers[4],
                                      .waiting = numbers[5] };
    for (size_t i = 0; i < 3; i++) {
        s[i] = (batch_status){ .state = (batch_state)below(BATCH_PLANNED + 1) };
        s[i].exit_code = (int)below(9);
        s[i].error = some_text();
        s[i].step = below(2) ? "scan" : NULL;
        s[i].step_attempts = below(3);
        s[i].seconds = below(300) / 4.0;
        s[i].cpu_seconds = below(300) / 4.0;
        s[i].forecast_seconds = below(4) / 2.0;
        s[i].peak_memory = below(3) * MB;
        s[i].forecast_memory = below(3) * MB;
        s[i].least_memory = below(3);
        s[i].forecast_disk = below(3);
        s[i].threads = below(3);
        s[i].file_size = below(3);
        s[i].objects = below(3);
        s[i].damage_places = below(3);
        s[i].index_bytes = below(3);
        s[i].index = some_text();
        s[i].dropped = below(2);
        at[i] = (batch_row){ &dumps[i], &s[i], below(3) };
    }
    o.tasks = below(3);
    o.plan = below(2);
    const bool ended = below(2);
    for (int format = HDX_FORMAT_TABLE; format <= HDX_FORMAT_CSV; format++) {
        const hdx_render_options how = { .format = (hdx_format)format };
        const hdx_sink           sink = { put_out, b };
        cr_assert(hdx_batch_summary(at, count, &o, &counts, 1.25, ended, &rows, &err) == HDX_OK, "%s", err.message);
        cr_assert(hdx_render(rows, &how, &sink, &err) == HDX_OK, "%s", err.message);
        hdx_rows_close(rows);
    }
}

/* ---- all of them ---- */

/* \n, \r, \q for a quote, \\ in the texts of files. */
static size_t unescape(char out[512], const char *text)
{
    size_t len = 0;
    for (; *text != '\0' && len < 511; text++) {
        const char *escaped = *text == '\\' && text[1] != '\0' ? strchr("n\nr\rb\\e\x1bu\xef", text[1]) : NULL;
        out[len++] = escaped != NULL ? escaped[1] : *text;
        text += escaped != NULL;
    }
    out[len] = '\0';
    return len;
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    const char *rest = strchr(ask, ' ');
    char        text[512];
    (void)context;
    rest = rest != NULL ? rest + 1 : "";
    const size_t len = unescape(text, rest);
    random_state = strtoull(rest, NULL, 10);
    if (strncmp(ask, "plan ", 5) == 0)
        plan(b);
    else if (strncmp(ask, "fit ", 4) == 0)
        fit(b);
    else if (strncmp(ask, "deal ", 5) == 0)
        deal(b);
    else if (strncmp(ask, "status ", 7) == 0)
        status(b);
    else if (strncmp(ask, "sum ", 4) == 0)
        sum_up(b);
    else if (strncmp(ask, "guess ", 6) == 0) {
        char                *path;
        const uint64_t       size = strtoull(rest, &path, 10);
        const batch_forecast f = hdx_batch_forecast_guess(path + 1, size);
        hdx_batch_forecast_put(b, &f);
    } else if (strncmp(ask, "kept ", 5) == 0)
        kept(b, text, len);
    else if (strncmp(ask, "dealt ", 6) == 0)
        dealt(b, text, len);
    else if (strncmp(ask, "said ", 5) == 0)
        status_of(b, text, len);
    else if (strncmp(ask, "id ", 3) == 0)
        hdx_buffer_format(b, "%d", hdx_batch_is_id(text));
    else if (strncmp(ask, "in ", 3) == 0)
        inputs(b, rest);
    else {
        const bool csv = strncmp(ask, "csv ", 4) == 0;
        cr_assert(csv || strncmp(ask, "jsonl ", 6) == 0, "%s", ask);
        put(csv ? "m/list.csv" : "m/list.jsonl", text, len);
        inputs(b, csv ? "m/list.csv" : "m/list.jsonl");
    }
    return b->len;
}

Test(told, what_is_decided_and_read_is_what_it_was)
{
    said = hdx_buffer_of(NULL);
    test_folder_make_fast(folder, "batch");
    cr_assert(chdir(folder) == 0 && mkdir("status", 0777) == 0);
    make_tree();
    checksums_check(HDX_TREE "/tests/batch/told.txt", text_of, NULL);
    test_folder_remove(folder);
    hdx_buffer_free(&said);
}
