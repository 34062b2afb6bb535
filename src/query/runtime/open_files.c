/*
 * open_files.c - open files, sockets and other resources of the operating system, found by fields that closing would
 * change.
 *
 * In:  every java.io.FileDescriptor with a number, and the stream, channel or socket that owns it; Inflater, Deflater,
 *      ZipFile (until JDK 8), directory streams, selectors and processes, which have a number or an address of their
 *      own.
 * Out: a row for each open one. Closing sets the number to -1, or the address to 0, in all versions since JDK 5.
 *      Resources of the program come first, the most frequent kind before others; then those of the class path:
 *      archives of class loaders, and the JDK's own; finally the three standard streams.
 * Cost: a record for each such object, and some of its referrers.
 */
#include "query/common/fields.h"
#include "query/common/labels.h"
#include "query/common/columns.h"
#include "query/common/listing.h"
#include "query/runtime/files.h"

#include "graph/graph.h"
#include <stdio.h>
#include <stdlib.h>

/* Sorted by name. */
typedef enum kind {
    DATAGRAM,
    DEFLATER,
    DESCRIPTOR,
    DIRECTORY,
    PLAIN_FILE,
    INFLATER,
    PIPE,
    PROCESS,
    SELECTOR,
    SERVER,
    SOCKET,
    WATCH,
    ZIP
} kind;
static const char *const kind_names[] = { "datagram", "deflater", "descriptor", "directory", "file",
                                          "inflater", "pipe",     "process",    "selector",  "server",
                                          "socket",   "watch",    "zip" };

/* ---- owners of descriptors ---- */

static const struct {
    const char *class_name;
    kind        kind;
    const char *descriptor, *path;
} owner_kinds[] = {
    { "java.net.SocketImpl", SOCKET, "fd", NULL },
    { "java.net.SocketInputStream", SOCKET, "fd", NULL }, /* a FileInputStream until JDK 17 */
    { "java.net.SocketOutputStream", SOCKET, "fd", NULL },
    { "java.io.FileInputStream", PLAIN_FILE, "fd", "path" },
    { "java.io.FileOutputStream", PLAIN_FILE, "fd", "path" },
    { "java.io.RandomAccessFile", PLAIN_FILE, "fd", "path" },
    { "sun.nio.ch.FileChannelImpl", PLAIN_FILE, "fd", "path" },
    { "sun.nio.ch.AsynchronousFileChannelImpl", PLAIN_FILE, "fdObj", NULL },
    { "android.os.ParcelFileDescriptor", PLAIN_FILE, "mFd", NULL },
    { "sun.nio.ch.ServerSocketChannelImpl", SERVER, "fd", "localAddress" },
    { "sun.nio.ch.SocketChannelImpl", SOCKET, "fd", "remoteAddress" },
    { "sun.nio.ch.DatagramChannelImpl", DATAGRAM, "fd", "localAddress" },
    { "sun.nio.ch.AsynchronousServerSocketChannelImpl", SERVER, "fd", NULL },
    { "sun.nio.ch.AsynchronousSocketChannelImpl", SOCKET, "fd", NULL },
    { "sun.nio.ch.SourceChannelImpl", PIPE, "fd", NULL },
    { "sun.nio.ch.SinkChannelImpl", PIPE, "fd", NULL },
    { "java.net.DatagramSocketImpl", DATAGRAM, "fd", NULL },
};
#define SOCKET_IMPL 0u
#define OWNER_KINDS (sizeof owner_kinds / sizeof *owner_kinds)

static int by_descriptor(const void *a, const void *b)
{
    const hdx_file_owner *x = a, *y = b;
    if (x->descriptor != y->descriptor)
        return x->descriptor < y->descriptor ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

hdx_code hdx_file_owners_of(hdx_ask *ask, hdx_file_owners *out, hdx_error *err)
{
    hdx_fields       f = { 0 };
    hdx_ids          ids = hdx_ids_of(ask->q.mem);
    struct hdx_near *near = hdx_graph_near_begin(ask->g);
    hdx_code         code = HDX_OK;
    for (unsigned rank = 0; code == HDX_OK && rank < OWNER_KINDS; rank++) {
        ids.count = 0;
        code = hdx_instances_below(ask, owner_kinds[rank].class_name, &ids, err);
        for (uint64_t i = 0; code == HDX_OK && i < ids.count; i++) {
            if ((code = hdx_fields_read(&f, ask->g, ids.at[i], err)) != HDX_OK)
                break;
            hdx_file_owner owner = { .id = ids.at[i], .path = HDX_NO_ID, .rank = rank };
            owner.descriptor = hdx_fields_ref(&f, NULL, owner_kinds[rank].descriptor);
            if (owner_kinds[rank].path != NULL)
                owner.path = hdx_fields_ref(&f, owner_kinds[rank].class_name, owner_kinds[rank].path);
            if (owner.descriptor == HDX_NO_ID)
                continue;
            if (!hdx_list_room(ask->q.mem, HDX_LIST_REF(out)))
                code = hdx_no_memory(err, "files", (out->count + 1) * sizeof owner);
            else
                out->at[out->count++] = owner;
            if (code == HDX_OK)
                code = hdx_ask_check_cancel(ask, err);
        }
    }
    hdx_graph_near_end(near);
    hdx_fields_close(&f);
    if (out->count > 1)
        qsort(out->at, (size_t)out->count, sizeof *out->at, by_descriptor);
    return code;
}

static bool is_before(const void *owners, uint64_t place, const void *descriptor)
{
    return ((const hdx_file_owner *)owners)[place].descriptor < *(const hdx_id *)descriptor;
}

const hdx_file_owner *hdx_file_owner_of(const hdx_file_owners *owners, hdx_id descriptor)
{
    const uint64_t i = hdx_partition(owners->at, 0, owners->count, &descriptor, is_before);
    return i < owners->count && owners->at[i].descriptor == descriptor ? &owners->at[i] : NULL;
}

/* ---- rows ---- */

enum { ADDRESS, CLASS, LABEL, KIND, NUMBER, NAME, SHALLOW, RETAINED, FIELD, CLASS_PATH, COLUMNS };

#define KIND_COLUMN                                                                                                    \
    HDX_COLUMN("kind", TEXT, NONE, 0,                                                                                  \
               "file, socket, server, datagram, pipe, directory, selector, inflater, process and similar")
static const hdx_column columns[COLUMNS] = {
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, 0, "the object that owns the descriptor"),
    [CLASS] = HDX_CLASS_COLUMN(0),
    [LABEL] = HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL | HDX_COLUMN_LATE,
                         "label of the object, such as the addresses of a channel; null if it has none"),
    [KIND] = KIND_COLUMN,
    [NUMBER] = HDX_COLUMN("number", SIGNED, NONE, HDX_COLUMN_NULLABLE,
                          "file descriptor, or id of a process; null if there is none"),
    [NAME] =
        HDX_COLUMN("name", TEXT, NONE, HDX_COLUMN_NULLABLE, "path, or address and ports, if object fields store them"),
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_SPARE, "shallow size of the object"),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                            "retained size: bytes of the heap that would be freed without the object"),
    [FIELD] = HDX_COLUMN("field", TEXT, NONE,
                         HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME | HDX_COLUMN_LATE | HDX_COLUMN_SPARE,
                         "CLASS#FIELD that holds the object, directly or through collections"),
    [CLASS_PATH] = HDX_COLUMN("class_path", BOOL, NONE, HDX_COLUMN_SPARE,
                              "true if a class loader or the JDK itself opened it to find classes and resources"),
};
static const hdx_column kind_columns[] = {
    KIND_COLUMN,
    HDX_COLUMN("open", UNSIGNED, COUNT, 0, "number of open objects"),
};
static const hdx_form forms[] = {
    { "by", "kind", kind_columns, HDX_COUNT(kind_columns) },
    { NULL, NULL, columns, COLUMNS },
};

/* The opener, in the order of rows. */
typedef enum opener { OF_PROGRAM, OF_CLASS_PATH, STANDARD } opener;

typedef struct handle {
    hdx_id   id;
    kind     is;
    hdx_id   path; /* an object whose label is the name; HDX_NO_ID: none */
    int64_t  number;
    bool     numbered;
    opener   by;
    uint64_t alike; /* number of handles of this kind and opener */
} handle;

typedef struct files {
    hdx_found       found;
    hdx_fields      fields, inner;
    hdx_file_owners owners;
} files;

static void close_files(void *of)
{
    files *f = of;
    hdx_fields_close(&f->fields);
    hdx_fields_close(&f->inner);
}

/* Returns whether it has a number from 0 up, or a handle of Windows. */
static bool is_open(const hdx_fields *f, handle *h)
{
    static const char descriptor[] = "java.io.FileDescriptor";
    int64_t           value;
    h->numbered = hdx_fields_number(f, descriptor, "fd", &h->number) ||
                  hdx_fields_number(f, descriptor, "descriptor", &h->number);
    h->numbered = h->numbered && h->number >= 0;
    return h->numbered || (hdx_fields_number(f, descriptor, "handle", &value) && value != -1 && value != 0);
}

static hdx_code detect_server(files *f, handle *h, hdx_error *err)
{
    int64_t        server;
    const hdx_code code = hdx_fields_read(&f->inner, f->found.ask.g, h->id, err);
    if (hdx_fields_ref(&f->inner, "java.net.SocketImpl", "serverSocket") != HDX_NO_ID ||
        (hdx_fields_number(&f->inner, "sun.nio.ch.NioSocketImpl", "server", &server) && server != 0))
        h->is = SERVER;
    return code;
}

/* Descriptors of the streams in, out and err are static fields in all versions; on Windows they have no numbers. */
static bool is_standard(hdx_id descriptor, const hdx_id standard[3])
{
    return descriptor == standard[0] || descriptor == standard[1] || descriptor == standard[2];
}

static hdx_code find_standard(files *f, hdx_id standard[3], hdx_error *err)
{
    static const char *const names[] = { "in", "out", "err" };
    const hdx_code           code = hdx_fields_statics(&f->fields, f->found.ask.g, "java.io.FileDescriptor", err);
    for (unsigned i = 0; i < 3; i++)
        standard[i] = hdx_fields_ref(&f->fields, NULL, names[i]);
    return code;
}

static hdx_code find_descriptors(files *f, hdx_error *err)
{
    hdx_ids  ids = hdx_ids_of(f->found.ask.q.mem);
    hdx_id   standard[3];
    hdx_code code = find_standard(f, standard, err);
    if (code == HDX_OK)
        code = hdx_instances_below(&f->found.ask, "java.io.FileDescriptor", &ids, err);
    for (uint64_t i = 0; code == HDX_OK && i < ids.count; i++) {
        handle h = { .id = ids.at[i], .is = DESCRIPTOR, .path = HDX_NO_ID };
        if ((code = hdx_fields_read(&f->fields, f->found.ask.g, h.id, err)) != HDX_OK || !is_open(&f->fields, &h))
            continue;
        h.by = is_standard(h.id, standard) || (h.numbered && h.number <= 2) ? STANDARD : OF_PROGRAM;
        const hdx_file_owner *owner = hdx_file_owner_of(&f->owners, h.id);
        if (owner != NULL) {
            h.id = owner->id;
            h.is = owner_kinds[owner->rank].kind;
            h.path = owner->path;
            code = owner->rank == SOCKET_IMPL ? detect_server(f, &h, err) : HDX_OK;
        }
        if (code == HDX_OK)
            code = hdx_found_add(&f->found, &h, err);
    }
    return code;
}

/* ---- resources without a descriptor ---- */

/*
 * Open if `field` (of the object to which `through` refers, if given) differs from `unless`, and `closed` is not true.
 * If `numbered`, the number is that field.
 */
static const struct {
    const char *class_name;
    kind        kind;
    const char *through, *field;
    int64_t     unless;
    const char *closed, *name;
    bool        numbered;
} others[] = {
    { "java.util.zip.Inflater", INFLATER, "zsRef", "address", 0, NULL, NULL, false },
    { "java.util.zip.Inflater", INFLATER, NULL, "strm", 0, NULL, NULL, false },
    { "java.util.zip.Inflater", INFLATER, NULL, "streamHandle", -1, NULL, NULL, false }, /* Android */
    { "java.util.zip.Deflater", DEFLATER, "zsRef", "address", 0, NULL, NULL, false },
    { "java.util.zip.Deflater", DEFLATER, NULL, "strm", 0, NULL, NULL, false },
    { "java.util.zip.Deflater", DEFLATER, NULL, "streamHandle", -1, NULL, NULL, false },
    { "java.util.zip.ZipFile", ZIP, NULL, "jzfile", 0, "closeRequested", "name", false },
    { "sun.nio.fs.UnixDirectoryStream", DIRECTORY, NULL, "dp", 0, "isClosed", "dir", false },
    { "sun.nio.ch.EPollSelectorImpl", SELECTOR, NULL, "epfd", -1, "closed", NULL, true },
    { "sun.nio.ch.KQueueSelectorImpl", SELECTOR, NULL, "kqfd", -1, "closed", NULL, true },
    { "sun.nio.fs.LinuxWatchService$Poller", WATCH, NULL, "ifd", -1, "closed", NULL, true },
    { "java.lang.ProcessImpl", PROCESS, NULL, "pid", 0, "hasExited", NULL, true },
    { "java.lang.UNIXProcess", PROCESS, NULL, "pid", 0, "hasExited", NULL, true },
};

static hdx_code read_other(files *f, hdx_id id, unsigned k, hdx_error *err)
{
    handle      h = { .id = id, .is = others[k].kind, .path = HDX_NO_ID, .numbered = others[k].numbered };
    hdx_fields *of = &f->fields;
    int64_t     closed = 0;
    hdx_code    code = hdx_fields_read(&f->fields, f->found.ask.g, id, err);
    if (code == HDX_OK && others[k].through != NULL) {
        of = &f->inner;
        code = hdx_fields_read(of, f->found.ask.g, hdx_fields_ref(&f->fields, NULL, others[k].through), err);
    }
    if (code != HDX_OK || !hdx_fields_number(of, NULL, others[k].field, &h.number) || h.number == others[k].unless)
        return code;
    if (others[k].closed != NULL && hdx_fields_number(&f->fields, NULL, others[k].closed, &closed) && closed != 0)
        return HDX_OK;
    if (others[k].name != NULL)
        h.path = hdx_fields_ref(&f->fields, NULL, others[k].name);
    if (others[k].name != NULL && strcmp(others[k].name, "dir") == 0) { /* a UnixPath, whose bytes are the text */
        code = hdx_fields_read(&f->inner, f->found.ask.g, h.path, err);
        h.path = hdx_fields_ref(&f->inner, NULL, "path");
    }
    return code == HDX_OK ? hdx_found_add(&f->found, &h, err) : code;
}

static hdx_code find_others(files *f, hdx_error *err)
{
    hdx_ids  ids = hdx_ids_of(f->found.ask.q.mem);
    hdx_code code = HDX_OK;
    for (unsigned k = 0; code == HDX_OK && k < sizeof others / sizeof *others; k++) {
        ids.count = 0;
        code = hdx_instances_below(&f->found.ask, others[k].class_name, &ids, err);
        for (uint64_t i = 0; code == HDX_OK && i < ids.count; i++)
            code = read_other(f, ids.at[i], k, err);
    }
    return code;
}

/* ---- openers ---- */

#define STEPS     8u  /* from a handle up to a class loader's list of archives */
#define REFERRERS 64u /* referrers examined on the way */

/* Classes between an archive and its opener: "java.util.zip.", and collections in which archives keep inflaters. */
static bool is_of_archive(hdx_text name)
{
    static const char *const begins[] = {
        "java.util.zip.",           "java.util.jar.",         "java.util.ArrayDeque",      "java.lang.Object[]",
        "java.io.RandomAccessFile", "java.io.FileDescriptor", "sun.net.www.protocol.jar.", "sun.nio.ch.FileChannelImpl"
    };
    for (size_t i = 0; i < HDX_COUNT(begins); i++)
        if (name.len >= strlen(begins[i]) && memcmp(name.at, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* Class paths of the JDK since 5, Tomcat, Spring Boot and Android; and every class named ...ClassLoader. */
static bool is_of_class_path(hdx_text name)
{
    static const char *const begins[] = {
        "sun.misc.URLClassPath",     "jdk.internal.loader.URLClassPath",    "jdk.internal.jimage.",
        "jdk.internal.module.",      "org.apache.catalina.webresources.",   "org.springframework.boot.loader.",
        "dalvik.system.DexPathList", "libcore.io.ClassPathURLStreamHandler"
    };
    static const char loader[] = "ClassLoader";
    for (size_t i = 0; i < HDX_COUNT(begins); i++)
        if (name.len >= strlen(begins[i]) && memcmp(name.at, begins[i], strlen(begins[i])) == 0)
            return true;
    return name.len >= sizeof loader - 1 &&
           memcmp(name.at + name.len - (sizeof loader - 1), loader, sizeof loader - 1) == 0;
}

/* Breadth-first search over referrers, through parts of archives. */
static bool is_opened_by_class_path(const files *f, hdx_id id)
{
    hdx_id   seen[REFERRERS] = { id };
    unsigned count = 1, examined = 0, at = 0;
    for (unsigned step = 0; step < STEPS && at < count; step++)
        for (const unsigned end = count; at < end; at++) {
            hdx_refs refs;
            hdx_id   from;
            hdx_graph_inbound(f->found.ask.g, seen[at], HDX_LIVE, &refs);
            while (examined < REFERRERS && hdx_refs_next(&refs, &from)) {
                const hdx_class *c = hdx_graph_class(f->found.ask.g, hdx_graph_class_of(f->found.ask.g, from));
                bool             fresh = c != NULL;
                examined++;
                if (c != NULL && is_of_class_path(c->name))
                    return true;
                for (unsigned i = 0; fresh && i < count; i++)
                    fresh = seen[i] != from;
                if (fresh && count < REFERRERS && is_of_archive(c->name))
                    seen[count++] = from;
            }
        }
    return false;
}

static hdx_code find_openers(files *f, hdx_error *err)
{
    handle  *at = f->found.at;
    uint64_t alike[HDX_COUNT(kind_names)][STANDARD + 1] = { { 0 } };
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < f->found.count; i++) {
        if (at[i].by == OF_PROGRAM && is_opened_by_class_path(f, at[i].id))
            at[i].by = OF_CLASS_PATH;
        alike[at[i].is][at[i].by]++;
        code = hdx_ask_check_cancel(&f->found.ask, err);
    }
    for (uint64_t i = 0; i < f->found.count; i++)
        at[i].alike = alike[at[i].is][at[i].by];
    return code;
}

/* ---- names ---- */

/* Returns "localhost/127.0.0.1:8080 from 51234" or "port 8080" for a java.net.SocketImpl. */
static hdx_code socket_cell(files *f, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    int64_t  port = 0, local = 0;
    hdx_cell address = hdx_cell_null();
    char     text[200];
    hdx_code code = hdx_fields_read(&f->fields, f->found.ask.g, id, err);
    if (code != HDX_OK || !hdx_fields_number(&f->fields, "java.net.SocketImpl", "localport", &local))
        return code;
    (void)hdx_fields_number(&f->fields, "java.net.SocketImpl", "port", &port);
    const hdx_id to = hdx_fields_ref(&f->fields, "java.net.SocketImpl", "address");
    if (port != 0 && to != HDX_NO_ID && (code = hdx_label_cell(&f->found.ask.q, to, arena, &address, err)) != HDX_OK)
        return code;
    if (address.kind == HDX_CELL_TEXT)
        (void)snprintf(text, sizeof text, "%.*s:%lld from %lld",
                       (int)(address.as.text.len < 120 ? address.as.text.len : 120), address.as.text.at,
                       (long long)port, (long long)local);
    else
        (void)snprintf(text, sizeof text, "port %lld", (long long)local);
    *out = hdx_text_cell(arena, (hdx_text){ text, (uint32_t)strlen(text) });
    return HDX_OK;
}

static hdx_code files_cells(void *of, const void *entry, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    files           *f = of;
    const handle    *h = entry;
    const hdx_query *q = &f->found.ask.q;
    hdx_graph       *g = f->found.ask.g;
    cells[ADDRESS] = hdx_id_cell(g, h->id);
    cells[CLASS] = hdx_class_of_cell(g, h->id);
    cells[KIND] = hdx_cell_string(kind_names[h->is]);
    if (h->numbered)
        cells[NUMBER] = hdx_cell_int(h->number);
    cells[SHALLOW] = hdx_cell_uint(hdx_graph_shallow(g, h->id));
    cells[RETAINED] = hdx_retained_cell(g, h->id);
    cells[CLASS_PATH] = hdx_cell_bool(h->by == OF_CLASS_PATH);
    if (!hdx_column_wanted(q, NAME))
        return HDX_OK;
    if (h->path != HDX_NO_ID)
        return hdx_label_cell(q, h->path, arena, &cells[NAME], err);
    return h->is == SOCKET || h->is == SERVER ? socket_cell(f, h->id, arena, &cells[NAME], err) : HDX_OK;
}

static int worst_first(const void *a, const void *b)
{
    const handle *x = a, *y = b;
    if (x->by != y->by)
        return x->by < y->by ? -1 : 1;
    if (x->alike != y->alike)
        return x->alike > y->alike ? -1 : 1;
    if (x->is != y->is)
        return x->is < y->is ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

HDX_ENTRY_NUMBER(kind_of, handle, is)

static hdx_code kind_cells(const hdx_ask *ask, uint64_t is, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    (void)ask;
    (void)arena;
    (void)err;
    cells[0] = hdx_cell_string(kind_names[is]);
    return HDX_OK;
}

static const hdx_sum      sums[] = { { 0 } };
static const hdx_grouping groupings[] = {
    { .key = kind_of, .key_cells = kind_cells, .keys = 1, .sums = sums, .sum_count = 1 },
};

/* ---- the question ---- */

static hdx_code files_find(void *of, hdx_error *err)
{
    files   *f = of;
    hdx_code code = hdx_file_owners_of(&f->found.ask, &f->owners, err);
    if (code == HDX_OK)
        code = find_descriptors(f, err);
    if (code == HDX_OK)
        code = find_others(f, err);
    return code == HDX_OK ? find_openers(f, err) : code;
}

static const char *no_files(const void *of)
{
    return hdx_graph_lacks_dump(((const files *)of)->found.ask.g) ? "open files are in the dump, which is not available"
                                                                  : "no open files found in object fields";
}

static const hdx_listing listing = { .what = "files",
                                     .state = sizeof(files),
                                     .entry = sizeof(handle),
                                     .forms = forms,
                                     .groupings = groupings,
                                     .label = LABEL,
                                     .field = FIELD,
                                     .find = files_find,
                                     .order = worst_first,
                                     .cells = files_cells,
                                     .nothing = no_files,
                                     .close = close_files };

static const hdx_parameter parameters[] = {
    { .name = "by", .kind = HDX_PARAMETER_CHOICE, .value = "KEY", .choices = "kind", .sentence = "one row per kind" },
};

const hdx_question hdx_question_open_files = {
    .declared = {
        .name = "open-files",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "files, sockets, inflaters and processes that are not closed",
        .more = "Each row is a stream, channel, socket, selector, directory stream, inflater, deflater or process "
                "whose fields show that it is open, with its path or address if fields store it. Objects that the "
                "program opened come first, the most frequent kind at the top; then archives of class loaders and the "
                "JDK, then standard streams. --sort address sorts by address. --by kind counts by kind.",
        .examples = { "heapdex open-files app.hprof --where 'kind = file'", "heapdex open-files app.hprof --by kind" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .listing = &listing,
};
