/*
 * texts.c - functions of texts whose cost SQLite neither limits nor can interrupt: instr, replace, trim, ltrim, rtrim,
 * length, LIKE and GLOB, printf and json_patch.
 *
 * In:  values of any type, of as many bytes as a value may have.
 * Out: the results of SQLite's functions of these names, in all details (tests/sql/test_texts.c compares both).
 * SQLite's own instr, replace and trim take time proportional to the product of both lengths: minutes for two texts of
 * a megabyte. The functions here are linear except trim, LIKE and GLOB, which check for cancellation after some
 * thousand steps. printf and json_patch are SQLite's own, run on a second, empty connection after the cost of their
 * arguments is known to be bounded. Connections of a host program keep the host's functions.
 */
#include "sql/sql.h"

#include <string.h>

#define STEPS 16384u /* between two cancellation checks; some 20 us */

typedef struct work {
    sql_db  *db;
    uint64_t steps;
} work;

static hdx_code more_steps(work *w, uint64_t steps, hdx_error *err)
{
    w->steps += steps;
    if (w->steps < STEPS)
        return HDX_OK;
    w->steps = 0;
    return hdx_sql_stopped(w->db, err);
}

/* ---- characters as SQLite reads them: invalid UTF-8 counts as characters, too ---- */

static uint32_t read_character(const uint8_t **at)
{
    const uint8_t *p = *at;
    uint32_t       c = *p++;
    if (c >= 0xc0) {
        c &= c < 0xe0 ? 0x1f : c < 0xf0 ? 0x0f : c < 0xf8 ? 0x07 : c < 0xfc ? 0x03 : c < 0xfe ? 0x01 : 0;
        while ((*p & 0xc0) == 0x80)
            c = (c << 6) + (*p++ & 0x3f);
        if (c < 0x80 || (c & 0xfffff800) == 0xd800 || (c & 0xfffffffe) == 0xfffe)
            c = 0xfffd;
    }
    *at = p;
    return c;
}

static uint32_t lower(uint32_t c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

static bool is_continuation(uint8_t byte) { return (byte & 0xc0) == 0x80; }

/* ---- LIKE and GLOB ---- */

typedef struct wildcards {
    uint32_t all, one, escape; /* 0: none */
    bool     glob;
} wildcards;

/* Matches "[a-z]", after its bracket. False: it is not closed, or does not contain the character. */
static bool in_set(const uint8_t **pattern, uint32_t c)
{
    uint32_t   before = 0, of = read_character(pattern);
    bool       seen = false;
    const bool invert = of == '^';
    if (invert)
        of = read_character(pattern);
    if (of == ']') {
        seen = c == ']';
        of = read_character(pattern);
    }
    for (; of != 0 && of != ']'; of = read_character(pattern)) {
        if (of == '-' && **pattern != ']' && **pattern != 0 && before > 0) {
            of = read_character(pattern);
            seen = seen || (c >= before && c <= of);
            before = 0;
            if (of == 0) /* the range is not closed */
                break;
        } else {
            seen = seen || c == of;
            before = of;
        }
    }
    return of != 0 && seen != invert;
}

/* Matches one item of the pattern other than `all` with one character. */
static bool item_matches(const wildcards *w, const uint8_t **pattern, const uint8_t **text)
{
    uint32_t   c = read_character(pattern), of;
    const bool escaped = !w->glob && w->escape != 0 && c == w->escape;
    if (escaped && (c = read_character(pattern)) == 0)
        return false;
    if (**text == 0)
        return false;
    of = read_character(text);
    if (w->glob && c == '[')
        return in_set(pattern, of);
    return c == of || (!w->glob && c < 0x80 && of < 0x80 && lower(c) == lower(of)) || (c == w->one && !escaped);
}

/* After an item that does not match, the text of the last `all` grows by one character. */
static hdx_code match(sql_db *db, const wildcards *w, const uint8_t *p, const uint8_t *t, bool *yes, hdx_error *err)
{
    const uint8_t *star = NULL, *behind = NULL;
    work           spent = { db, 0 };
    hdx_code       code = HDX_OK;
    *yes = false;
    while (code == HDX_OK) {
        const uint8_t *from = p;
        if (*p != 0 && *p == w->all) {
            star = ++p;
            behind = t;
            if (*p == 0) {
                *yes = true;
                return HDX_OK;
            }
            continue;
        }
        if (*p == 0 && *t == 0) {
            *yes = true;
            return HDX_OK;
        }
        const bool over = *t == 0, same = *p != 0 && item_matches(w, &p, &t);
        code = more_steps(&spent, 1 + (uint64_t)(p - from), err);
        if (same)
            continue;
        if (star == NULL || over || *behind == 0)
            return code;
        (void)read_character(&behind);
        t = behind;
        p = star;
    }
    return code;
}

hdx_code hdx_sql_like(sql_db *db, const char *pattern, const char *text, uint32_t escape, bool glob, bool *yes,
                      hdx_error *err)
{
    wildcards w = { .all = glob ? '*' : '%', .one = glob ? '?' : '_', .escape = escape, .glob = glob };
    w.all = escape != 0 && w.all == escape ? 0 : w.all;
    w.one = escape != 0 && w.one == escape ? 0 : w.one;
    return match(db, &w, (const uint8_t *)pattern, (const uint8_t *)text, yes, err);
}

static bool pattern_fits(sqlite3_context *context, sql_db *db, sqlite3_value *pattern)
{
    const int most = sqlite3_limit(db->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1), len = sqlite3_value_bytes(pattern);
    hdx_error err = { .offset = HDX_NOWHERE };
    if (len <= most)
        return true;
    (void)hdx_hint(&err,
                   hdx_fail(&err, HDX_LIMIT, "", HDX_NOWHERE,
                            "the pattern of LIKE or GLOB is %d bytes; the maximum is %d", len, most),
                   "use instr(text, part) for longer texts");
    hdx_sql_function_failed(context, db, &err);
    return false;
}

static void like_or_glob(sqlite3_context *context, int count, sqlite3_value **values, bool glob)
{
    sql_db   *db = sqlite3_user_data(context);
    uint32_t  escape = 0;
    bool      yes;
    hdx_error err;
    if ((sqlite3_value_type(values[0]) == SQLITE_BLOB || sqlite3_value_type(values[1]) == SQLITE_BLOB) &&
        sqlite3_compileoption_used("LIKE_DOESNT_MATCH_BLOBS")) {
        sqlite3_result_int(context, 0);
        return;
    }
    if (!pattern_fits(context, db, values[0]))
        return;
    if (count > 2) {
        const uint8_t *at = sqlite3_value_text(values[2]);
        if (at == NULL)
            return;
        if (*at == 0 || (escape = read_character(&at)) == 0 || *at != 0) {
            sqlite3_result_error(context, "ESCAPE expression must be a single character", -1);
            return;
        }
    }
    const char *pattern = (const char *)sqlite3_value_text(values[0]),
               *text = (const char *)sqlite3_value_text(values[1]);
    if (pattern == NULL || text == NULL)
        return;
    hdx_code code = hdx_sql_like(db, pattern, text, escape, glob, &yes, &err);
    if (code == HDX_OK)
        code = sql_turn(db, &err);
    if (code == HDX_OK)
        sqlite3_result_int(context, yes);
    else
        hdx_sql_function_failed(context, db, &err);
}

static void like(sqlite3_context *context, int count, sqlite3_value **values)
{
    like_or_glob(context, count, values, false);
}

static void glob(sqlite3_context *context, int count, sqlite3_value **values)
{
    like_or_glob(context, count, values, true);
}

/* ---- parts of texts ---- */

/* Returns whether to stop, after work on this many bytes. */
static bool is_stopped(sqlite3_context *context, uint64_t bytes)
{
    sql_db        *db = sqlite3_user_data(context);
    hdx_error      err;
    const hdx_code code = bytes >= STEPS ? hdx_sql_stopped(db, &err) : sql_turn(db, &err);
    if (code != HDX_OK)
        hdx_sql_function_failed(context, db, &err);
    return code != HDX_OK;
}

static uint64_t characters(const uint8_t *at, uint64_t bytes)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < bytes; i++)
        n += !is_continuation(at[i]);
    return n;
}

static void length(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    switch (sqlite3_value_type(values[0])) {
    case SQLITE_NULL: return;
    case SQLITE_TEXT: {
        const uint8_t *at = sqlite3_value_text(values[0]);
        if (at == NULL)
            return;
        const uint64_t bytes = strlen((const char *)at);
        uint64_t       inner = 0; /* continuation bytes of characters */
        bool           within = false;
        for (uint64_t i = 0; i < bytes; i++) {
            within = at[i] >= 0xc0 || (within && is_continuation(at[i]));
            inner += within && at[i] < 0xc0;
        }
        if (!is_stopped(context, bytes))
            sqlite3_result_int64(context, (sqlite3_int64)(bytes - inner));
        return;
    }
    default: sqlite3_result_int(context, sqlite3_value_bytes(values[0]));
    }
}

/* instr(text, part): by bytes if both are blobs. A part is found only where a character begins. */
static void instr(sqlite3_context *context, int count, sqlite3_value **values)
{
    const int types[] = { sqlite3_value_type(values[0]), sqlite3_value_type(values[1]) };
    (void)count;
    if (types[0] == SQLITE_NULL || types[1] == SQLITE_NULL)
        return;
    const bool     blobs = types[0] == SQLITE_BLOB && types[1] == SQLITE_BLOB;
    const uint8_t *text = blobs ? sqlite3_value_blob(values[0]) : sqlite3_value_text(values[0]),
                  *part = blobs ? sqlite3_value_blob(values[1]) : sqlite3_value_text(values[1]);
    const size_t len = (size_t)sqlite3_value_bytes(values[0]), part_len = (size_t)sqlite3_value_bytes(values[1]);
    if (part_len == 0) {
        sqlite3_result_int(context, 1);
        return;
    }
    if ((text == NULL && len > 0) || part == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    const uint8_t *found = NULL;
    if (len >= part_len && !blobs &&
        is_continuation(part[0])) /* no character begins like this, but the text itself may */
        found = memcmp(text, part, part_len) == 0 ? text : NULL;
    else if (len >= part_len)
        found = memmem(text, len, part, part_len);
    if (is_stopped(context, len))
        return;
    if (found == NULL)
        sqlite3_result_int(context, 0);
    else if (blobs)
        sqlite3_result_int64(context, found - text + 1);
    else /* bytes before the first character count as one character */
        sqlite3_result_int64(context, found == text ? 1
                                                    : (sqlite3_int64)(characters(text, (uint64_t)(found - text)) +
                                                                      (is_continuation(text[0]) ? 1 : 0) + 1));
}

typedef struct piece {
    const char *at;
    size_t      len;
} piece;

/* Returns the length of the result; UINT64_MAX: longer than `most`. */
static uint64_t replaced_length(piece text, piece part, piece by, uint64_t most)
{
    uint64_t len = text.len;
    for (const char *at = text.at, *end = text.at + text.len, *found;
         (found = memmem(at, (size_t)(end - at), part.at, part.len)) != NULL; at = found + part.len) {
        len = len - part.len + by.len;
        if (by.len > part.len && len > most)
            return UINT64_MAX;
    }
    return len <= most ? len : UINT64_MAX;
}

static void put_replaced(char *to, piece text, piece part, piece by)
{
    const char *at = text.at, *end = text.at + text.len, *found;
    while ((found = memmem(at, (size_t)(end - at), part.at, part.len)) != NULL) {
        memcpy(to, at, (size_t)(found - at));
        to += found - at;
        memcpy(to, by.at, by.len);
        to += by.len;
        at = found + part.len;
    }
    memcpy(to, at, (size_t)(end - at));
}

static void replace(sqlite3_context *context, int count, sqlite3_value **values)
{
    sql_db *db = sqlite3_user_data(context);
    piece   p[3];
    (void)count;
    for (int i = 0; i < 3; i++) {
        p[i].at = (const char *)sqlite3_value_text(values[i]);
        p[i].len = (size_t)sqlite3_value_bytes(values[i]);
        if (p[i].at == NULL)
            return;
        if (i == 1 && p[1].at[0] == '\0') {
            sqlite3_result_value(context, values[0]);
            return;
        }
    }
    const uint64_t len = replaced_length(p[0], p[1], p[2], (uint64_t)sqlite3_limit(db->db, SQLITE_LIMIT_LENGTH, -1));
    if (len == UINT64_MAX) {
        sqlite3_result_error_toobig(context);
        return;
    }
    char *text = is_stopped(context, p[0].len) ? NULL : sqlite3_malloc64(len + 1);
    if (text == NULL) {
        if (db->error.code == HDX_OK)
            sqlite3_result_error_nomem(context);
        return;
    }
    put_replaced(text, p[0], p[1], p[2]);
    text[len] = '\0';
    sqlite3_result_text64(context, text, len, sqlite3_free, SQLITE_UTF8);
}

/* ---- trim ---- */

static size_t character_length(const char *at, const char *end)
{
    const char *p = at + 1;
    if ((uint8_t)*at >= 0xc0)
        while (p < end && is_continuation((uint8_t)*p))
            p++;
    return (size_t)(p - at);
}

/* Counts the bytes at the front or the end of the text that are in the set of characters. */
static hdx_code trimmed(work *w, piece text, piece set, bool front, size_t *len, hdx_error *err)
{
    hdx_code code = HDX_OK;
    *len = 0;
    for (size_t at = 0, n; code == HDX_OK && *len == 0 && at < set.len; at += n) {
        n = character_length(set.at + at, set.at + set.len);
        if (n <= text.len && memcmp(front ? text.at : text.at + text.len - n, set.at + at, n) == 0)
            *len = n;
        code = more_steps(w, n, err);
    }
    return code;
}

static void trim_ends(sqlite3_context *context, int count, sqlite3_value **values, bool front, bool back)
{
    sql_db *db = sqlite3_user_data(context);
    work    w = { db, 0 };
    piece   text, set = { " ", 1 };
    size_t  len;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    text.at = (const char *)sqlite3_value_text(values[0]);
    text.len = (size_t)sqlite3_value_bytes(values[0]);
    if (text.at == NULL || (count > 1 && (set.at = (const char *)sqlite3_value_text(values[1])) == NULL))
        return;
    set.len = count > 1 ? strlen(set.at) : set.len;
    hdx_error err;
    hdx_code  code = HDX_OK;
    for (bool more = front; code == HDX_OK && more && text.len > 0; text.at += len, text.len -= len)
        more = (code = trimmed(&w, text, set, true, &len, &err)) == HDX_OK && len > 0;
    for (bool more = back; code == HDX_OK && more && text.len > 0; text.len -= len)
        more = (code = trimmed(&w, text, set, false, &len, &err)) == HDX_OK && len > 0;
    if (code == HDX_OK)
        sqlite3_result_text64(context, text.at, text.len, SQLITE_TRANSIENT, SQLITE_UTF8);
    else
        hdx_sql_function_failed(context, db, &err);
}

static void trim(sqlite3_context *context, int count, sqlite3_value **values)
{
    trim_ends(context, count, values, true, true);
}

static void ltrim(sqlite3_context *context, int count, sqlite3_value **values)
{
    trim_ends(context, count, values, true, false);
}

static void rtrim(sqlite3_context *context, int count, sqlite3_value **values)
{
    trim_ends(context, count, values, false, true);
}

/* ---- SQLite's own functions, for arguments within limits ---- */

#define MOST_ARGUMENTS 101u
#define MOST_WIDTH     10000000 /* of a conversion of printf, which writes characters one by one: a fifth of a second */
#define MOST_PRODUCT                                                                                                   \
    1000000000ull /* bytes times bytes of json_patch, which compares each key with all: two seconds                    \
                   */

struct sql_texts {
    sqlite3      *plain;                              /* a connection with SQLite's functions */
    sqlite3_stmt *statements[2][MOST_ARGUMENTS + 1u]; /* printf and json_patch, by number of arguments */
};

void hdx_sql_texts_close(struct sql_texts *t)
{
    if (t == NULL)
        return;
    for (size_t i = 0; i < sizeof t->statements / sizeof **t->statements; i++)
        (void)sqlite3_finalize(t->statements[i / (MOST_ARGUMENTS + 1)][i % (MOST_ARGUMENTS + 1)]);
    (void)sqlite3_close(t->plain);
    sqlite3_free(t);
}

static struct sql_texts *texts_of(sql_db *db)
{
    if (db->texts != NULL)
        return db->texts;
    struct sql_texts *t = sqlite3_malloc64(sizeof *t);
    if (t == NULL)
        return NULL;
    memset(t, 0, sizeof *t);
    if (sqlite3_open(":memory:", &t->plain) != SQLITE_OK) {
        hdx_sql_texts_close(t);
        return NULL;
    }
    (void)sqlite3_limit(t->plain, SQLITE_LIMIT_LENGTH, sqlite3_limit(db->db, SQLITE_LIMIT_LENGTH, -1));
    return db->texts = t;
}

/* Prepares "SELECT name(?,?)". */
static sqlite3_stmt *statement_of(struct sql_texts *t, unsigned which, int count)
{
    static const char *const names[] = { "printf", "json_patch" };
    sqlite3_stmt           **stmt = &t->statements[which][count];
    if (*stmt != NULL)
        return *stmt;
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "SELECT %s(", names[which]);
    for (int i = 0; i < count; i++)
        sqlite3_str_appendall(text, i > 0 ? ",?" : "?");
    sqlite3_str_appendall(text, ")");
    char *made = sqlite3_str_finish(text);
    if (made != NULL)
        (void)sqlite3_prepare_v3(t->plain, made, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    sqlite3_free(made);
    return *stmt;
}

static void run_plain(sqlite3_context *context, unsigned which, int count, sqlite3_value **values)
{
    sql_db           *db = sqlite3_user_data(context);
    struct sql_texts *t = texts_of(db);
    sqlite3_stmt     *stmt = t == NULL ? NULL : statement_of(t, which, count);
    int               rc = stmt == NULL ? SQLITE_NOMEM : SQLITE_OK;
    for (int i = 0; rc == SQLITE_OK && i < count; i++)
        rc = sqlite3_bind_value(stmt, i + 1, values[i]);
    if (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        sqlite3_result_value(context, sqlite3_column_value(stmt, 0));
    else if (rc == SQLITE_NOMEM || rc == SQLITE_TOOBIG)
        sqlite3_result_error_code(context, rc);
    else
        sqlite3_result_error(context, sqlite3_errmsg(t->plain), -1);
    if (stmt != NULL) {
        (void)sqlite3_reset(stmt);
        (void)sqlite3_clear_bindings(stmt);
    }
}

/* Reads the next width or precision of a format: digits, or "*", which is an argument. */
static uint64_t number_of(const char **at, int count, sqlite3_value **values, int *argument)
{
    uint64_t n = 0;
    if (**at == '*') {
        const sqlite3_int64 v = *argument < count ? sqlite3_value_int(values[*argument]) : 0;
        ++*at;
        ++*argument;
        return (uint64_t)(v < 0 ? -v : v);
    }
    for (; **at >= '0' && **at <= '9'; ++*at)
        n = n > MOST_WIDTH ? n : n * 10 + (uint64_t)(**at - '0');
    return n;
}

/* Finds the largest width or precision, and their sum. */
static void read_widths(const char *format, int count, sqlite3_value **values, uint64_t *widest, uint64_t *sum)
{
    int argument = 1;
    *widest = *sum = 0;
    for (const char *at = format; (at = strchr(at, '%')) != NULL;) {
        at++;
        at += strspn(at, "-+ #!0,");
        for (unsigned i = 0; i < 2; i++) {
            if (i == 1 && *at != '.')
                break;
            at += i;
            const uint64_t n = number_of(&at, count, values, &argument);
            *widest = n > *widest ? n : *widest;
            *sum += n;
        }
        at += strspn(at, "l");
        argument += *at != '%' && *at != 'n';
        at += *at != '\0';
    }
}

static void print(sqlite3_context *context, int count, sqlite3_value **values)
{
    sql_db        *db = sqlite3_user_data(context);
    const uint64_t most = (uint64_t)sqlite3_limit(db->db, SQLITE_LIMIT_LENGTH, -1);
    const char    *format = count > 0 ? (const char *)sqlite3_value_text(values[0]) : NULL;
    uint64_t       widest = 0, sum = 0;
    hdx_error      err = { .offset = HDX_NOWHERE };
    if (format != NULL)
        read_widths(format, count, values, &widest, &sum);
    if (sum > most) {
        sqlite3_result_error_toobig(context);
        return;
    }
    if (widest > MOST_WIDTH) {
        (void)hdx_hint(&err,
                       hdx_fail(&err, HDX_LIMIT, "", HDX_NOWHERE, "printf width is %llu; the maximum is %d",
                                (unsigned long long)widest, MOST_WIDTH),
                       "use hex(zeroblob(N)) for a longer text");
        hdx_sql_function_failed(context, db, &err);
        return;
    }
    if (!is_stopped(context, widest))
        run_plain(context, 0, count, values);
}

static void json_patch(sqlite3_context *context, int count, sqlite3_value **values)
{
    sql_db        *db = sqlite3_user_data(context);
    hdx_error      err = { .offset = HDX_NOWHERE };
    const uint64_t lens[] = { (uint64_t)sqlite3_value_bytes(values[0]), (uint64_t)sqlite3_value_bytes(values[1]) };
    if (lens[0] * lens[1] > MOST_PRODUCT) {
        (void)hdx_hint(&err,
                       hdx_fail(&err, HDX_LIMIT, "", HDX_NOWHERE,
                                "json_patch texts are %llu and %llu bytes; the maximum of their product is %llu",
                                (unsigned long long)lens[0], (unsigned long long)lens[1],
                                (unsigned long long)MOST_PRODUCT),
                       "use json_each to split an object and json_group_object to build one");
        hdx_sql_function_failed(context, db, &err);
        return;
    }
    if (is_stopped(context, STEPS))
        return;
    run_plain(context, 1, count, values);
    sqlite3_result_subtype(context, 'J'); /* so that other JSON functions accept it as JSON */
}

/* ---- all functions ---- */

int hdx_sql_install_texts(sql_db *db)
{
    static const struct {
        const char *name;
        int         count;
        void (*call)(sqlite3_context *context, int count, sqlite3_value **values);
    } texts[] = {
        { "length", 1, length },
        { "instr", 2, instr },
        { "replace", 3, replace },
        { "trim", 1, trim },
        { "trim", 2, trim },
        { "ltrim", 1, ltrim },
        { "ltrim", 2, ltrim },
        { "rtrim", 1, rtrim },
        { "printf", -1, print },
        { "format", -1, print },
        { "json_patch", 2, json_patch },
        { "rtrim", 2, rtrim },
        { "like", 2, like },
        { "like", 3, like },
        { "glob", 2, glob },
    };
    int rc = SQLITE_OK;
    for (size_t i = 0; rc == SQLITE_OK && i < sizeof texts / sizeof *texts; i++)
        rc = sqlite3_create_function_v2(db->db, texts[i].name, texts[i].count,
                                        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS | SQLITE_SUBTYPE, db,
                                        texts[i].call, NULL, NULL, NULL);
    return rc;
}
