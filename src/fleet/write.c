/*
 * write.c - writes all tables of a dump, one after the other, and then moves the partition into place.
 *
 * If an answer fails, its table has no rows, and other tables and dumps are not affected. Three kinds of errors end
 * everything: a damaged index, because no answer can be trusted; Ctrl-C; and a full disk.
 */
#include "fleet/fleet.h"

#include "answer/answer.h"
#include "graph/graph.h"
#include "render/render.h"

/* ---- options ---- */

hdx_code hdx_fleet_id_check(const char *dump_id, hdx_error *err)
{
    const size_t len = dump_id == NULL ? 0 : strlen(dump_id);
    if (len == 0 || len > 200)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "dump_id is %zu bytes; it must have 1 to 200", len);
    if (dump_id[0] == '.')
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "dump_id '%.60s' begins with a dot", dump_id);
    for (const unsigned char *at = (const unsigned char *)dump_id; *at != '\0'; at++)
        if (*at < 0x20 || *at == 0x7f || *at == '/')
            return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE,
                            "dump_id contains a slash or a control character at byte %zu",
                            (size_t)(at - (const unsigned char *)dump_id) + 1);
    hdx_buffer text = hdx_buffer_of(NULL); /* invalid UTF-8 is encoded as in tables */
    hdx_render_utf8(&text, dump_id, len);
    const bool same = !text.failed && text.len == len && memcmp(text.at, dump_id, len) == 0;
    hdx_buffer_free(&text);
    return same ? HDX_OK : hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "dump_id is not valid UTF-8");
}

static bool names(const char *list, const char *name)
{
    const size_t len = strlen(name);
    for (const char *at = list; at != NULL && *at != '\0'; at += *at == ',') {
        const size_t part = strcspn(at, ",");
        if (part == len && memcmp(at, name, len) == 0)
            return true;
        at += part;
    }
    return false;
}

bool hdx_fleet_is_asked(const hdx_fleet_options *o, const fleet_table *t)
{
    return !t->on_demand || names(o->tables, t->name);
}

static hdx_code check_tables(const char *list, hdx_error *err)
{
    for (const char *at = list; at != NULL && *at != '\0'; at += *at == ',') {
        const hdx_text name = { at, (uint32_t)strcspn(at, ",") };
        unsigned       i = 0;
        while (hdx_fleet_table(i) != NULL && !hdx_text_is(name, hdx_fleet_table(i)->name))
            i++;
        if (hdx_fleet_table(i) == NULL)
            return hdx_hint(err,
                            hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "unknown table '%.*s'",
                                     (int)(name.len > 60 ? 60 : name.len), name.at),
                            "optional tables: dominators_full, objects, references");
        at += name.len;
    }
    return HDX_OK;
}

static hdx_code check(hdx_session *s, const hdx_fleet_options *o, hdx_error *err)
{
    hdx_code code = hdx_fleet_id_check(o->dump_id, err);
    if (code == HDX_OK && (o->out == NULL || *o->out == '\0'))
        code = hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "tables need an output folder");
    if (code == HDX_OK && (s == NULL) != (o->failure != NULL))
        code = hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "expected either a session or an error");
    return code == HDX_OK ? check_tables(o->tables, err) : code;
}

/* ---- one table ---- */

/*
 * Returns whether the failure of an answer goes into the table `problems`: the answer failed, or has more rows than fit
 * in memory with their writer. Errors that may not occur again, such as a disk error or a damaged index that can be
 * rebuilt, do not: then no tables are written, and the dump fails.
 */
static bool is_problem(const fleet_source *source, const fleet_place *p, const hdx_error *err)
{
    if (source->error.code == HDX_OK)
        return err->code == HDX_LIMIT && !p->broken;
    return source->error.code != HDX_DAMAGED && source->error.code != HDX_CANCELLED && source->error.code != HDX_IO;
}

static hdx_code no_rows(const hdx_column *columns, unsigned count, hdx_rows **out, hdx_error *err)
{
    hdx_table     *table;
    const hdx_code code = hdx_table_new(columns, count, &table, err);
    return code == HDX_OK ? hdx_table_rows(table, out, err) : code;
}

static hdx_code add(fleet_place *p, const fleet_table *t, hdx_rows **rows, hdx_error *err)
{
    const hdx_code code = hdx_fleet_place_add(p, t->name, *rows, err);
    hdx_rows_close(*rows);
    *rows = NULL;
    return code;
}

static hdx_code write_table(fleet_dump *d, fleet_place *p, const fleet_table *t, hdx_error *err)
{
    hdx_column   columns[HDX_FLEET_MOST_COLUMNS];
    unsigned     answered;
    unsigned     count = hdx_fleet_columns(t, columns, &answered);
    fleet_source source = { .error = { .code = HDX_OK } };
    hdx_rows    *rows = NULL;
    hdx_code     code;
    if (t->answer == NULL)
        code = hdx_fleet_once(d, t, columns, count, &rows, err);
    else if (d->session == NULL)
        code = no_rows(columns, count, &rows, err);
    else
        code = hdx_fleet_rows(d, t, &source, &rows, err);
    const bool begun = code == HDX_OK;
    if (begun)
        code = add(p, t, &rows, err);
    const char *lacks =
        t->answer != NULL && d->session != NULL ? hdx_session_lacks(d->session, 0, hdx_answer_named(t->answer)) : NULL;
    if (code == HDX_OK)
        return lacks == NULL ? HDX_OK : hdx_fleet_problem(d, t->name, "warning", lacks, err);
    if (t->answer == NULL || !is_problem(&source, p, err))
        return code;
    d->failed++;
    const hdx_error why = source.error.code != HDX_OK ? source.error : *err;
    if ((code = hdx_fleet_problem(d, t->name, hdx_code_name(why.code), why.message, err)) != HDX_OK ||
        (begun && (code = hdx_fleet_place_again(p, t->name, err)) != HDX_OK) ||
        (code = no_rows(columns, count, &rows, err)) != HDX_OK)
        return code;
    return add(p, t, &rows, err);
}

/* ---- all tables ---- */

static bool is_cancelled(const hdx_progress *p) { return p->cancelled != NULL && p->cancelled(p->context); }

static hdx_code write_all(fleet_dump *d, fleet_place *p, hdx_error *err)
{
    hdx_code           code = HDX_OK;
    const fleet_table *t;
    for (unsigned i = 0; code == HDX_OK && (t = hdx_fleet_table(i)) != NULL; i++) {
        if (is_cancelled(p->progress))
            return hdx_fail(err, HDX_CANCELLED, "", HDX_NOWHERE, "interrupted while writing tables");
        if (hdx_fleet_is_asked(d->options, t))
            code = write_table(d, p, t, err);
    }
    return code;
}

static hdx_code open_dump(hdx_session *s, fleet_dump *d, hdx_error *err)
{
    const hdx_error *failure = d->options->failure;
    if (s == NULL)
        return hdx_fleet_problem(d, NULL, hdx_code_name(failure->code), failure->message, err);
    const hdx_code code = hdx_session_graph(s, 0, &d->g, err);
    if (code == HDX_OK)
        d->query = hdx_answer_query(s, &(hdx_arguments){ 0 }, d->g);
    return code;
}

hdx_code hdx_fleet_write_by(hdx_io *io, hdx_session *s, const hdx_fleet_options *o, hdx_error *err)
{
    hdx_error   own;
    fleet_dump  d = { .session = s, .options = o, .arena = hdx_arena_of(NULL), .loaders = hdx_map_of(NULL) };
    fleet_place place;
    err = err == NULL ? &own : err;
    hdx_code code = check(s, o, err);
    if (code != HDX_OK)
        return code;
    d.id = (hdx_text){ o->dump_id, (uint32_t)strlen(o->dump_id) };
    if ((code = open_dump(s, &d, err)) == HDX_OK) {
        const hdx_index_report *report = s != NULL ? hdx_session_report(s, 0) : NULL;
        const char             *dump = report == NULL ? NULL : report->dump[0] != '\0' ? report->dump : report->path;
        code = hdx_fleet_place_open(io, o, dump, s != NULL ? &s->progress : &o->progress, &place, err);
        if (code == HDX_OK)
            code = write_all(&d, &place, err);
        if (code == HDX_OK)
            code = hdx_fleet_place_commit(&place, err);
        if (o->failed != NULL)
            *o->failed = d.failed;
        hdx_fleet_place_close(&place);
    }
    hdx_map_free(&d.loaders);
    hdx_arena_free(&d.arena);
    hdx_list_free(NULL, HDX_LIST_REF(&d.problems));
    return code;
}

hdx_code hdx_fleet_write(hdx_session *s, const hdx_fleet_options *o, hdx_error *err)
{
    return hdx_fleet_write_by(hdx_io_system(), s, o, err);
}
