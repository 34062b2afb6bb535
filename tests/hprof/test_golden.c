/*
 * test_golden.c - the malformed cases and the real dumps that lie beside the source tree, where they do; skipped
 * elsewhere.
 *
 * Of the malformed cases only what the grammar decides is judged here: duplicates, missing classes, cycles and layouts
 * are found by the build. Real dumps are compared with an independent scanner, record kind by record kind.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "support/folder.h"
#include "surveyed.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED HDX_TREE "/../shared"

static bool have_shared(const char *what)
{
    if (access(what, R_OK) == 0 && system("python3 -c pass 2>/dev/null") == 0)
        return true;
    cr_skip_test("%s is not there: skipped", what);
    return false;
}

static surveyed *survey_path(const char *path, how h)
{
    surveyed   *s = calloc(1, sizeof *s);
    hdx_source *source = NULL;
    (void)pthread_mutex_init(&s->lock, NULL);
    s->code = hdx_source_open(path, NULL, &source, &s->err);
    if (s->code == HDX_OK)
        survey_source(s, source, h);
    hdx_source_close(source);
    return s;
}

/* Kinds that a later step finds. */
static bool of_this_room(const char *kinds)
{
    return strstr(kinds, "missing") == NULL && strstr(kinds, "duplicate") == NULL && strstr(kinds, "cycle") == NULL &&
           strcmp(kinds, "layout") != 0;
}

static void judge(const char *path, char *row)
{
    char *at = row, *column[7];
    for (unsigned k = 0; k < 7; k++)
        column[k] = strsep(&at, "\t\n");
    const char *name = column[0], *expect = column[3], *kinds = column[4], *objects = column[5];
    surveyed   *s = survey_path(path, (how){ .threads = 2 }), *t = survey_path(path, (how){ .sequential = true });
    const char *differ = surveys_differ(s, t);
    cr_expect(differ == NULL, "%s: the readers differ in %s", name, differ);
    if (strcmp(expect, "refused") == 0) {
        cr_expect(eq(int, s->code, HDX_BAD_DUMP), "%s", name);
    } else if (strcmp(expect, "any") == 0) {
        cr_expect(s->code == HDX_OK || s->code == HDX_BAD_DUMP, "%s", name);
    } else {
        cr_assert(eq(int, s->code, HDX_OK), "%s: %s", name, s->err.message);
        cr_expect(eq(u64, s->walked, s->count), "%s", name);
        if (strncmp(expect, "ok", 2) == 0)
            cr_expect(eq(u64, s->survey.damage_count, 0), "%s: %s", name,
                      s->survey.damage == NULL ? "" : s->survey.damage->expected);
        if (strcmp(expect, "ok-no-warning") == 0)
            cr_expect(eq(u32, s->survey.warning_count, 0), "%s: %s", name, s->survey.warnings[0]);
        if (strcmp(expect, "damaged") == 0 && of_this_room(kinds)) {
            bool found = false;
            for (uint64_t k = 0; k < s->survey.damage_count; k++)
                found = found || strstr(kinds, hdx_damage_name(s->survey.damage[k].kind)) != NULL;
            cr_expect(found, "%s: damage of kind %s expected", name, kinds);
        }
        unsigned long long low, high;
        const int          n = sscanf(objects, "%llu-%llu", &low, &high);
        if (n >= 1 && strstr(kinds, "duplicate") == NULL && strncmp(name, "ok-duplicate-class", 18) != 0)
            cr_expect(s->survey.objects >= low && s->survey.objects <= (n == 2 ? high : low),
                      "%s: %llu objects, %s expected", name, (unsigned long long)s->survey.objects, objects);
        if (strncmp(column[6], "dumps=", 6) == 0)
            cr_expect(eq(u32, s->survey.dumps_in_file, (uint32_t)atoi(column[6] + 6)), "%s", name);
    }
    surveyed_free(s);
    surveyed_free(t);
}

Test(golden, malformed_cases)
{
    if (!have_shared(SHARED "/golden/malformed/make.py"))
        return;
    char folder[TEST_FOLDER], command[4096], path[4096], row[4096];
    test_folder_make(folder, "malformed");
    (void)snprintf(command, sizeof command, "python3 -B '%s/golden/malformed/make.py' %s", SHARED, folder);
    cr_assert(eq(int, system(command), 0));
    FILE *manifest = fopen(SHARED "/golden/malformed/manifest.tsv", "r");
    cr_assert(manifest != NULL && fgets(row, sizeof row, manifest) != NULL);
    unsigned cases = 0;
    while (fgets(row, sizeof row, manifest) != NULL) {
        (void)snprintf(path, sizeof path, "%s/%.*s", folder, (int)strcspn(row, "\t"), row);
        judge(path, row);
        cases++;
    }
    (void)fclose(manifest);
    test_folder_remove(folder);
    cr_expect(ge(u32, cases, 200));
}

/* The number after "KEY": in a text; 0 where it is not. */
static uint64_t number(const char *text, const char *key)
{
    char quoted[64];
    (void)snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(text, quoted);
    return at == NULL ? 0 : strtoull(at + strlen(quoted), NULL, 10);
}

static void compare(const char *path)
{
    static char text[1 << 20];
    char        command[3 * 4096];
    (void)snprintf(command, sizeof command, "python3 -B '%s/check/hprof_scan.py' --json '%s'", SHARED, path);
    FILE *f = popen(command, "r");
    cr_assert(f != NULL);
    const size_t n = fread(text, 1, sizeof text - 1, f);
    (void)pclose(f);
    text[n] = 0;
    surveyed *s = survey_path(path, (how){ 0 });
    cr_assert(eq(int, s->code, HDX_OK), "%s: %s", path, s->err.message);
    cr_expect(eq(u64, s->survey.damage_count, 0), "%s", path);
    cr_expect(eq(u64, s->walked, s->count), "%s", path);
    cr_expect(eq(u64, s->survey.dumps_in_file, number(text, "dumps")), "%s", path);
    for (unsigned tag = 0; tag < 256; tag++) {
        if (hdx_top_name((uint8_t)tag) != NULL)
            cr_expect(eq(u64, s->survey.top_records[tag], number(text, hdx_top_name((uint8_t)tag))), "%s: %s", path,
                      hdx_top_name((uint8_t)tag));
        /* the scanner counts sub-records of all dumps of a file together */
        if (s->survey.dumps_in_file == 1 && hdx_sub_name((uint8_t)tag) != NULL && tag != HDX_SUB_UNREACHABLE)
            cr_expect(eq(u64, s->survey.sub_records[tag], number(text, hdx_sub_name((uint8_t)tag))), "%s: %s", path,
                      hdx_sub_name((uint8_t)tag));
    }
    cr_expect(eq(u64, s->survey.objects,
                 number(strstr(text, "\"objects\"") == NULL ? text : strstr(text, "\"objects\""), "total")),
              "%s", path);
    surveyed_free(s);
}

Test(golden, real_dumps_count_as_the_reference_scanner_says)
{
    if (!have_shared(SHARED "/golden/dumps"))
        return;
    DIR           *folder = opendir(SHARED "/golden/dumps");
    struct dirent *entry;
    char           path[4096];
    struct stat    info;
    unsigned       dumps = 0;
    cr_assert(folder != NULL);
    while ((entry = readdir(folder)) != NULL) {
        (void)snprintf(path, sizeof path, "%s/golden/dumps/%s", SHARED, entry->d_name);
        const size_t len = strlen(path);
        if (len > 9 && strcmp(path + len - 9, ".hprof.gz") == 0 && stat(path, &info) == 0 &&
            info.st_size < 700 << 10) { /* the scanner is slow */
            compare(path);
            dumps++;
        }
    }
    (void)closedir(folder);
    cr_expect(gt(u32, dumps, 3));
}
