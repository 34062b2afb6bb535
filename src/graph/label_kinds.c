/*
 * label_kinds.c - the rules by which MAT makes labels, one function each (MAT 10.4, CommonNameResolver of 1.17).
 *
 * In:  an instance, and `detail` of the rule's row.
 * Out: appended text; nothing if the rule finds no value.
 * Fields of JDK, Eclipse and OSGi classes are found by name, because order and layout differ between JDKs. Three
 * behaviours of MAT are reproduced: a missing field counts as null; a field of an unexpected type, or a reference that
 * leads to no object, gives no label at all; an object without a label inside of a longer text is written as "null".
 * Fields are those of the class that has the rule; on a path through other objects ("manager.data") the topmost field
 * of a name counts.
 * Cost: for each field a scan of the field names of the class and its superclasses.
 */
#include "graph/label.h"

#include <stdio.h>
#include <stdlib.h>

/* What a reference field leads to: null, an object, or neither. */
typedef enum found { NOTHING, OBJECT, BAD } found;

/* Removes what was appended after `len`. */
static void take_back(hdx_buffer *out, uint64_t len)
{
    if (out->len <= len)
        return;
    out->len = len;
    out->at[len] = '\0';
}

/* ---- fields ---- */

static hdx_code step(hdx_labels *l, const hdx_instance *i, const char *name, hdx_id *id, found *what)
{
    hdx_value v;
    bool      there;
    hdx_code  code = hdx_instance_field(i, name, &v, &there, l->err);
    *what = NOTHING;
    if (code != HDX_OK || !there || v.absent)
        return code;
    if (v.type != 2 || (v.as.address != 0 && !hdx_graph_find(l->g, v.as.address, id)))
        *what = BAD;
    else if (v.as.address != 0)
        *what = OBJECT;
    return HDX_OK;
}

/* Follows "a.b.c" from an instance. */
static hdx_code follow(hdx_labels *l, const hdx_instance *i, const char *path, hdx_id *id, found *what)
{
    char         name[64];
    hdx_instance next;
    bool         there;
    hdx_code     code;
    for (;;) {
        size_t len = strcspn(path, ".");
        (void)snprintf(name, sizeof name, "%.*s", (int)len, path);
        if ((code = step(l, i, name, id, what)) != HDX_OK || *what != OBJECT || path[len] == '\0')
            return code;
        path += len + 1;
        *what = NOTHING;
        if ((code = hdx_instance_open(l->g, *id, &next, &there, l->err)) != HDX_OK || !there)
            return code;
        i = &next;
    }
}

/* Appends the label of the object in a field. *text: whether there was one. */
static hdx_code field_label(hdx_labels *l, const hdx_instance *i, const char *path, found *what, bool *text)
{
    hdx_id   id;
    hdx_code code = follow(l, i, path, &id, what);
    *text = false;
    return code == HDX_OK && *what == OBJECT ? hdx_label_append(l, id, text) : code;
}

/*
 * Same inside of a longer text: adds text before and after, and "null" for an object without a label. *ok becomes false
 * where MAT gives up.
 */
static hdx_code part(hdx_labels *l, const hdx_instance *i, const char *before, const char *path, const char *after,
                     bool *ok)
{
    found    what;
    bool     text;
    uint64_t start = l->out->len;
    hdx_buffer_text(l->out, before);
    hdx_code code = field_label(l, i, path, &what, &text);
    if (code != HDX_OK)
        return code;
    if (what == BAD)
        *ok = false;
    if (what != OBJECT) {
        take_back(l->out, start);
        return HDX_OK;
    }
    hdx_buffer_text(l->out, text ? after : "null");
    if (!text)
        hdx_buffer_text(l->out, after);
    return HDX_OK;
}

/* Returns 0 if there is no field of this type. */
static hdx_code number(hdx_labels *l, const hdx_instance *i, const char *name, uint8_t type, int64_t *out, bool *there)
{
    hdx_value v;
    hdx_code  code = hdx_instance_field(i, name, &v, there, l->err);
    *there = code == HDX_OK && *there && v.type == type && !v.absent;
    *out = !*there ? 0 : type == 4 ? v.as.boolean : v.as.integer;
    return code;
}

/*
 * Appends the name of the class of a class object; nothing for int.class and other primitive types, which are not class
 * objects.
 */
static void class_name(hdx_labels *l, hdx_id id)
{
    const hdx_class *c = hdx_graph_class_object(l->g, id);
    if (c != NULL)
        hdx_buffer_put(l->out, c->name.at, c->name.len);
}

/* ---- text and the value of one field ---- */

hdx_code hdx_label_field(hdx_labels *l, const hdx_instance *i, const char *path, bool *some)
{
    found what;
    return field_label(l, i, path, &what, some);
}

hdx_code hdx_label_constant(hdx_labels *l, const hdx_instance *i, const char *text, bool *some)
{
    (void)i;
    hdx_buffer_text(l->out, text);
    *some = true;
    return HDX_OK;
}

static hdx_code put_chars(hdx_labels *l, const hdx_chars *c, bool *some)
{
    uint64_t read = 0;
    hdx_code code = hdx_label_units(l, c, false, &read);
    if (code != HDX_OK || (read == 0 && c->units > 0))
        return code;
    if (l->whole == HDX_CUT && c->units > HDX_LABEL_CHARS)
        hdx_buffer_text(l->out, "...");
    *some = true;
    return HDX_OK;
}

hdx_code hdx_label_string(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    hdx_chars c;
    bool      there;
    (void)detail;
    hdx_code code = hdx_chars_of(i, &c, &there, l->err);
    return code == HDX_OK && there ? put_chars(l, &c, some) : code;
}

hdx_code hdx_label_builder(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    int64_t  count;
    bool     there;
    hdx_code code = number(l, i, "count", 10, &count, &there);
    if (!there)
        return code;
    if (count != 0)
        return hdx_label_string(l, i, detail, some);
    *some = true;
    return HDX_OK;
}

/* Boxes, AtomicInteger, AtomicLong: the field as String.valueOf prints it. */
hdx_code hdx_label_value(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    hdx_value v;
    bool      there;
    (void)detail;
    hdx_code code = hdx_instance_field(i, "value", &v, &there, l->err);
    if (!there || v.absent || v.type == 2)
        return code;
    *some = true;
    if (v.type == 4) {
        hdx_buffer_text(l->out, v.as.boolean ? "true" : "false");
    } else if (v.type == 6) {
        hdx_put_float(l->out, v.as.single);
    } else if (v.type == 7) {
        hdx_put_double(l->out, v.as.real);
    } else if (v.type == 5) {
        hdx_put_label(l->out, &v.as.character, 1);
    } else {
        hdx_buffer_format(l->out, "%lld", (long long)v.as.integer);
    }
    return HDX_OK;
}

hdx_code hdx_label_flag(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    int64_t value;
    (void)detail;
    hdx_code code = number(l, i, "value", 10, &value, some);
    if (*some)
        hdx_buffer_text(l->out, value != 0 ? "true" : "false");
    return code;
}

/* LongAdder and DoubleAdder: the sum of base and all cells; a DoubleAdder stores doubles as the bits of longs. */
hdx_code hdx_label_adder(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    enum { CELLS = 4096 }; /* a JVM creates at most as many cells as processors, rounded up to a power of two */
    hdx_code     code;
    hdx_id       cells, cell;
    hdx_instance one;
    found        what;
    bool         there, real = detail[0] == 'd';
    int64_t      value;
    uint64_t     sum;
    double       real_sum = 0, term;
    hdx_values   v = { 0 };
    code = number(l, i, "base", 11, &value, &there);
    if (!there)
        return code;
    sum = (uint64_t)value;
    memcpy(&real_sum, &value, sizeof real_sum);
    if ((code = step(l, i, "cells", &cells, &what)) != HDX_OK || what == BAD)
        return code;
    if (what == OBJECT && (code = hdx_graph_elements(l->g, cells, 0, CELLS, &v, l->err)) != HDX_OK)
        goto out;
    for (uint64_t n = 0; n < v.count; n++) {
        if (v.at[n].value.type != 2 || v.at[n].value.absent || !hdx_graph_find(l->g, v.at[n].value.as.address, &cell) ||
            cell == 0)
            continue;
        if ((code = hdx_instance_open(l->g, cell, &one, &there, l->err)) != HDX_OK)
            goto out;
        if (!there || !hdx_instance_as(&one, "java.util.concurrent.atomic.Striped64$Cell"))
            continue;
        if ((code = number(l, &one, "value", 11, &value, &there)) != HDX_OK)
            goto out;
        if (!there)
            continue;
        sum += (uint64_t)value; /* wraps as Java's long does */
        memcpy(&term, &value, sizeof term);
        real_sum += term;
    }
    *some = true;
    if (real)
        hdx_put_double(l->out, real_sum);
    else
        hdx_buffer_format(l->out, "%lld", (long long)(int64_t)sum);
out:
    hdx_values_free(&v);
    return code;
}

/* "(1,2)" of the named int fields, thousands grouped as java.text.MessageFormat does; RGB with three digits each. */
hdx_code hdx_label_numbers(hdx_labels *l, const hdx_instance *i, const char *names, bool *some)
{
    bool        rgb = strncmp(names, "red", 3) == 0, there;
    char        name[32], plain[24];
    int64_t     value;
    const char *between = "(";
    for (size_t len; *names != '\0'; names += len + (names[len] == ',')) {
        len = strcspn(names, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)len, names);
        hdx_code code = number(l, i, name, 10, &value, &there);
        if (code != HDX_OK || (rgb && !there))
            return code;
        hdx_buffer_text(l->out, between);
        between = ",";
        if (!there) {
            hdx_buffer_text(l->out, "null");
        } else if (rgb) {
            hdx_buffer_format(l->out, "%s%03lld", value < 0 ? "-" : "", llabs(value));
        } else {
            int n = snprintf(plain, sizeof plain, "%lld", (long long)value);
            for (int d = 0; d < n; d++) {
                hdx_buffer_put(l->out, &plain[d], 1);
                if (plain[d] != '-' && d + 1 < n && (n - d - 1) % 3 == 0)
                    hdx_buffer_text(l->out, ",");
            }
        }
    }
    hdx_buffer_text(l->out, ")");
    *some = true;
    return HDX_OK;
}

/* ---- java.net ---- */

static hdx_code url_parts(hdx_labels *l, const hdx_instance *i, const char *first, bool *some)
{
    hdx_code code;
    uint64_t start = l->out->len;
    bool     ok = true;
    if ((code = part(l, i, "", first, ":", &ok)) != HDX_OK ||
        (code = part(l, i, "//", "authority", "", &ok)) != HDX_OK ||
        (code = part(l, i, "", "path", "", &ok)) != HDX_OK || (code = part(l, i, "?", "query", "", &ok)) != HDX_OK ||
        (code = part(l, i, "#", "ref", "", &ok)) != HDX_OK)
        return code;
    *some = ok && l->out->len > start;
    return HDX_OK;
}

hdx_code hdx_label_url(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    (void)detail;
    return url_parts(l, i, "protocol", some);
}

hdx_code hdx_label_uri(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    found what;
    (void)detail;
    hdx_code code = field_label(l, i, "string", &what, some);
    return code != HDX_OK || *some || what == BAD ? code : url_parts(l, i, "scheme", some);
}

static void put_ip4(hdx_buffer *out, const uint8_t *b)
{
    hdx_buffer_format(out, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
}

static void put_ip6(hdx_buffer *out, const uint8_t *b)
{
    for (unsigned n = 0; n < 16; n += 2)
        hdx_buffer_format(out, "%s%x", n == 0 ? "" : ":", hdx_be16(b + n));
}

hdx_code hdx_label_inet4(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    hdx_code code;
    found    what;
    bool     host, there;
    int64_t  address;
    (void)detail;
    if ((code = field_label(l, i, "hostName", &what, &host)) != HDX_OK || what == BAD)
        return code;
    if ((code = number(l, i, "address", 10, &address, &there)) != HDX_OK)
        return code;
    if (there) {
        uint32_t      a = (uint32_t)address;
        const uint8_t b[4] = { (uint8_t)(a >> 24), (uint8_t)(a >> 16), (uint8_t)(a >> 8), (uint8_t)a };
        hdx_buffer_text(l->out, host ? "/" : "");
        put_ip4(l->out, b);
    }
    *some = host || there;
    return HDX_OK;
}

/* Reads the bytes of the byte[] in a field; *n is 17 if there are more than 16. */
static hdx_code address_bytes(hdx_labels *l, const hdx_instance *i, const char *name, uint8_t *bytes, uint64_t *n,
                              bool *there)
{
    hdx_record       r;
    hdx_id           id;
    found            what;
    hdx_code         code = step(l, i, name, &id, &what);
    const hdx_class *c;
    *there = false;
    if (what != OBJECT || (c = hdx_graph_class(l->g, hdx_graph_class_of(l->g, id))) == NULL || !hdx_class_of_bytes(c))
        return code;
    if ((code = hdx_graph_record(l->g, id, &r, there, l->err)) != HDX_OK || !*there)
        return code;
    return hdx_record_elements(&r, 1, 0, 17, bytes, n, l->err);
}

hdx_code hdx_label_inet6(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
    hdx_code             code;
    found                what;
    bool                 host, there, has_set, has_scope;
    int64_t              set, scope;
    uint8_t              b[17];
    uint64_t             n = 0;
    (void)detail;
    if ((code = field_label(l, i, "hostName", &what, &host)) != HDX_OK || what == BAD ||
        (code = address_bytes(l, i, "ipaddress", b, &n, &there)) != HDX_OK ||
        (code = number(l, i, "scope_id_set", 4, &set, &has_set)) != HDX_OK ||
        (code = number(l, i, "scope_id", 10, &scope, &has_scope)) != HDX_OK)
        return code;
    if (!there) {
        *some = host;
        return HDX_OK;
    }
    bool scoped = host && set != 0 && has_scope;
    if (n != 16 && (n != 4 || scoped))
        return HDX_OK;
    *some = true;
    hdx_buffer_text(l->out, host ? "/" : "");
    if (n == 4 || (!scoped && memcmp(b, mapped, sizeof mapped) == 0))
        put_ip4(l->out, n == 4 ? b : b + 12);
    else
        put_ip6(l->out, b);
    if (scoped && scope >= 0)
        hdx_buffer_format(l->out, "%%%lld", (long long)scope);
    return HDX_OK;
}

/* Before a port an IPv6 address is written in brackets. */
static void put_bracketed(hdx_buffer *out, const char *address)
{
    bool six = strchr(address, ':') != NULL;
    hdx_buffer_text(out, six ? "[" : "");
    hdx_buffer_text(out, address);
    hdx_buffer_text(out, six ? "]" : "");
}

hdx_code hdx_label_socket_address(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    hdx_code   code;
    found      a, h;
    bool       has_address = false, has_host = false, has_port;
    int64_t    port;
    hdx_buffer address = hdx_buffer_of(NULL), host = hdx_buffer_of(NULL), *out = l->out;
    uint64_t   start = out->len;
    (void)detail;
    l->out = &address;
    code = field_label(l, i, "addr", &a, &has_address);
    l->out = &host;
    if (code == HDX_OK)
        code = field_label(l, i, "host", &h, &has_host);
    l->out = out;
    if (code != HDX_OK || a == BAD || h == BAD || (code = number(l, i, "port", 10, &port, &has_port)) != HDX_OK)
        goto out;
    if (address.failed || host.failed) {
        out->failed = true;
        goto out;
    }
    char *slash = has_address && address.at != NULL ? strchr(address.at, '/') : NULL;
    if (slash != NULL) {
        hdx_buffer_put(out, address.at, (uint64_t)(slash + 1 - address.at));
        put_bracketed(out, slash + 1);
    } else if (has_host) {
        hdx_buffer_put(out, host.at, host.len);
        hdx_buffer_text(out, has_address ? "/" : "");
    }
    if (slash == NULL && has_address)
        put_bracketed(out, address.at != NULL ? address.at : "");
    hdx_buffer_text(out, ":");
    if (has_port)
        hdx_buffer_format(out, "%lld", (long long)port);
    *some = out->len > start + 1;
out:
    hdx_buffer_free(&address);
    hdx_buffer_free(&host);
    return code;
}

hdx_code hdx_label_channel(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    static const char *const states[][2] = {
        { "ST_UNINITIALIZED", "uninitialized " }, { "ST_UNCONNECTED", "unconnected " },  { "ST_PENDING", "pending " },
        { "ST_CONNECTED", "connected " },         { "ST_KILLPENDING", "kill pending " }, { "ST_KILLED", "killed " }
    };
    hdx_code   code;
    int64_t    state;
    found      what;
    bool       there, text;
    hdx_values v = { 0 };
    (void)detail;
    if ((code = number(l, i, "state", 10, &state, &there)) != HDX_OK ||
        (there && (code = hdx_graph_statics(l->g, i->class->id, &v, l->err)) != HDX_OK))
        goto out;
    for (size_t s = 0, done = 0; s < sizeof states / sizeof *states && !done; s++)
        for (uint64_t n = 0; n < v.count && !done; n++)
            if (hdx_text_is(v.at[n].name, states[s][0]) && v.at[n].value.type == 10 && !v.at[n].value.absent &&
                v.at[n].value.as.integer == state) {
                hdx_buffer_text(l->out, states[s][1]);
                done = 1;
            }
    hdx_buffer_text(l->out, "local=");
    if ((code = field_label(l, i, "localAddress", &what, &text)) != HDX_OK || what == BAD)
        goto out;
    hdx_buffer_text(l->out, " remoteAddress=");
    if ((code = field_label(l, i, "remoteAddress", &what, &text)) != HDX_OK || what == BAD)
        goto out;
    *some = true;
out:
    hdx_values_free(&v);
    return code;
}

/* ---- java.lang.reflect, java.lang.invoke, stack traces ---- */

/* As java.lang.reflect.Modifier.toString: in this order, a space after each. */
static void put_modifiers(hdx_buffer *out, int64_t m)
{
    static const struct {
        unsigned    bit;
        const char *word;
    } words[] = {
        { 0x1, "public " },        { 0x4, "protected " }, { 0x2, "private " },    { 0x400, "abstract " },
        { 0x8, "static " },        { 0x10, "final " },    { 0x80, "transient " }, { 0x40, "volatile " },
        { 0x20, "synchronized " }, { 0x100, "native " },  { 0x800, "strictfp " }, { 0x200, "interface " },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (((uint64_t)m & words[i].bit) != 0)
            hdx_buffer_text(out, words[i].word);
}

static hdx_code put_class(hdx_labels *l, const hdx_instance *i, const char *field, const char *after, found *what)
{
    hdx_id   id;
    hdx_code code = step(l, i, field, &id, what);
    if (code == HDX_OK && *what == OBJECT) {
        class_name(l, id);
        hdx_buffer_text(l->out, after);
    }
    return code;
}

static hdx_code put_parameters(hdx_labels *l, const hdx_instance *i, bool *ok)
{
    hdx_id     array, class;
    found      what;
    hdx_values v = { 0 };
    hdx_buffer_text(l->out, "(");
    hdx_code code = step(l, i, "parameterTypes", &array, &what);
    if (code == HDX_OK && what == OBJECT)
        code = hdx_graph_elements(l->g, array, 0, 256, &v,
                                  l->err); /* a method has at most 255 (JVM specification 4.3.3) */
    *ok = what != BAD;
    for (uint64_t n = 0; code == HDX_OK && *ok && n < v.count && v.at[n].value.type == 2; n++) {
        hdx_buffer_text(l->out, n > 0 ? "," : "");
        *ok = v.at[n].value.as.address == 0 || hdx_graph_find(l->g, v.at[n].value.as.address, &class);
        if (*ok && v.at[n].value.as.address != 0)
            class_name(l, class);
    }
    hdx_buffer_text(l->out, ")");
    hdx_values_free(&v);
    return code;
}

/*
 * Field, Method, Constructor: modifiers, the type in the field that `detail` names, the class; "n": with the name,
 * "()": with parameter types.
 */
hdx_code hdx_label_member(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    hdx_code code;
    int64_t  modifiers;
    bool     there, ok = true, text;
    found    what;
    char     type[24];
    size_t   len = strcspn(detail, " ");
    bool     named = detail[len] == ' ', parameters = strstr(detail, "()") != NULL;
    if ((code = number(l, i, "modifiers", 10, &modifiers, &there)) != HDX_OK)
        return code;
    put_modifiers(l->out, modifiers);
    (void)snprintf(type, sizeof type, "%.*s", (int)len, detail);
    if (named && ((code = put_class(l, i, type, " ", &what)) != HDX_OK || what == BAD))
        return code;
    if ((code = put_class(l, i, "clazz", named ? "." : "", &what)) != HDX_OK || what == BAD ||
        (!named && what == NOTHING))
        return code;
    if (named) {
        if ((code = field_label(l, i, "name", &what, &text)) != HDX_OK || what != OBJECT)
            return code;
        hdx_buffer_text(l->out, text ? "" : "null");
    }
    if (parameters && (code = put_parameters(l, i, &ok)) != HDX_OK)
        return code;
    *some = ok;
    return HDX_OK;
}

hdx_code hdx_label_member_name(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    hdx_code code;
    found    what;
    hdx_id   name, class;
    bool     text;
    (void)detail;
    if ((code = step(l, i, "name", &name, &what)) != HDX_OK || what != OBJECT)
        return code;
    if ((code = step(l, i, "clazz", &class, &what)) != HDX_OK || what == BAD)
        return code;
    if (what == OBJECT && hdx_graph_class_object(l->g, class) != NULL) {
        class_name(l, class);
        hdx_buffer_text(l->out, ".");
    }
    if ((code = hdx_label_append(l, name, &text)) != HDX_OK)
        return code;
    hdx_buffer_text(l->out, text ? "" : "null");
    *some = true;
    return HDX_OK;
}

/* "Class.method() (File.java:12)"; without a file name "Class.method() 12", without a line neither colon nor number. */
hdx_code hdx_label_frame(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    hdx_code code;
    hdx_id   id;
    found class, method, file;
    int64_t line;
    bool    there, ok = true;
    (void)detail;
    if ((code = step(l, i, "declaringClass", &id, &class)) != HDX_OK ||
        (code = step(l, i, "methodName", &id, &method)) != HDX_OK ||
        (code = number(l, i, "lineNumber", 10, &line, &there)) != HDX_OK ||
        (code = step(l, i, "fileName", &id, &file)) != HDX_OK)
        return code;
    if (class != OBJECT || method != OBJECT || file == BAD || !there)
        return HDX_OK;
    if ((code = part(l, i, "", "declaringClass", ".", &ok)) != HDX_OK ||
        (code = part(l, i, "", "methodName", "()", &ok)) != HDX_OK)
        return code;
    if (file == OBJECT && (code = part(l, i, " (", "fileName", "", &ok)) != HDX_OK)
        return code;
    if (line > 0)
        hdx_buffer_format(l->out, "%s%lld", file == OBJECT ? ":" : " ", (long long)line);
    hdx_buffer_text(l->out, file == OBJECT ? ")" : "");
    *some = ok;
    return HDX_OK;
}

/* ---- locales, versions, loaders ---- */

/* Appends the label of a field if it is not empty. */
static hdx_code filled(hdx_labels *l, const hdx_instance *i, const char *path, found *what, bool *some)
{
    uint64_t start = l->out->len;
    hdx_code code = field_label(l, i, path, what, some);
    *some = *some && l->out->len > start;
    return code;
}

hdx_code hdx_label_locale(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    found what;
    (void)detail;
    hdx_code code = filled(l, i, "languageTag", &what, some);
    return code != HDX_OK || *some || what == BAD ? code : field_label(l, i, "baseLocale", &what, some);
}

hdx_code hdx_label_base_locale(hdx_labels *l, const hdx_instance *i, const char *prefix, bool *some)
{
    static const char *const fields[] = { "language", "script", "region", "variant" };
    uint64_t                 start = l->out->len;
    char                     name[24];
    found                    what;
    bool                     text;
    for (unsigned f = 0; f < 4; f++) {
        uint64_t before = l->out->len;
        (void)snprintf(name, sizeof name, "%s%s", prefix, fields[f]);
        hdx_buffer_text(l->out, before > start ? "_" : "");
        uint64_t at = l->out->len;
        hdx_code code = field_label(l, i, name, &what, &text);
        if (code != HDX_OK || what == BAD)
            return code;
        if (l->out->len == at)
            take_back(l->out, before);
    }
    *some = true;
    return HDX_OK;
}

hdx_code hdx_label_ulocale(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    found what;
    (void)detail;
    hdx_code code = filled(l, i, "localeID", &what, some);
    return code != HDX_OK || *some || what == BAD ? code : filled(l, i, "locale", &what, some);
}

hdx_code hdx_label_version(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    hdx_code code;
    found    what;
    bool     a, b, c, qualifier;
    int64_t  major, minor, micro;
    (void)detail;
    if ((code = field_label(l, i, "versionString", &what, some)) != HDX_OK || *some || what == BAD)
        return code;
    if ((code = number(l, i, "major", 10, &major, &a)) != HDX_OK ||
        (code = number(l, i, "minor", 10, &minor, &b)) != HDX_OK ||
        (code = number(l, i, "micro", 10, &micro, &c)) != HDX_OK || !(a && b && c))
        return code;
    hdx_buffer_format(l->out, "%lld.%lld.%lld.", (long long)major, (long long)minor, (long long)micro);
    if ((code = filled(l, i, "qualifier", &what, &qualifier)) != HDX_OK || what == BAD)
        return code;
    if (!qualifier)
        take_back(l->out, l->out->len - 1);
    *some = true;
    return HDX_OK;
}

hdx_code hdx_label_webapp(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    found what;
    (void)detail;
    hdx_code code = field_label(l, i, "_name", &what, some);
    return code != HDX_OK || what != NOTHING ? code : field_label(l, i, "_context._contextPath", &what, some);
}

/* ---- java.math ---- */

/*
 * Fields sign and mag (OpenJDK), sign and digits (Harmony, least significant first). Sets *negative; appends the
 * decimal digits.
 */
hdx_code hdx_label_big_integer(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    enum { WORDS = 2048 }; /* 19,728 digits; dividing longer ones takes time that grows with the square */
    hdx_code   code;
    int64_t    sign;
    bool       there, little = false, zero = true;
    found      what;
    hdx_id     array;
    uint32_t   words[WORDS];
    hdx_values v = { 0 };
    (void)detail;
    if ((code = number(l, i, "sign", 10, &sign, &there)) != HDX_OK ||
        (!there && (code = number(l, i, "signum", 10, &sign, &there)) != HDX_OK) || !there)
        return code;
    if ((code = step(l, i, "mag", &array, &what)) != HDX_OK || what == BAD)
        return code;
    if (what == NOTHING) {
        little = true;
        code = step(l, i, "digits", &array, &what);
        if (what != OBJECT)
            return code;
    }
    uint64_t         n = hdx_graph_length(l->g, array);
    const hdx_class *c = hdx_graph_class(l->g, hdx_graph_class_of(l->g, array));
    if (c == NULL || c->kind != HDX_PRIMITIVE_ARRAY || c->element_type != 10 || n > WORDS || sign < -1 || sign > 1)
        return HDX_OK;
    code = hdx_graph_elements(l->g, array, 0, n, &v, l->err);
    for (uint64_t k = 0; code == HDX_OK && k < v.count; k++) {
        words[little ? v.count - 1 - k : k] = (uint32_t)v.at[k].value.as.integer;
        zero = zero && v.at[k].value.as.integer == 0;
    }
    if (code == HDX_OK && v.count == n && (n == 0 || !v.at[n - 1].value.absent) && (zero || sign != 0)) {
        hdx_buffer_text(l->out, sign < 0 && !zero ? "-" : "");
        hdx_put_big(l->out, words, n);
        *some = true;
    }
    hdx_values_free(&v);
    return code;
}

/* Writes the unscaled value of a BigDecimal as decimal text. */
static hdx_code unscaled(hdx_labels *l, const hdx_instance *i, hdx_buffer *digits, bool *some)
{
    static const char *const compact[] = { "intCompact", "smallValue", "intLong" }; /* OpenJDK, Harmony, 1.4.2 */
    hdx_code                 code;
    found                    what;
    bool                     there = false;
    int64_t                  value = 0;
    hdx_buffer              *out = l->out;
    l->out = digits;
    code = field_label(l, i, "intVal", &what, some);
    l->out = out;
    if (code != HDX_OK || what != NOTHING)
        return code;
    for (unsigned n = 0; n < 3 && !there; n++)
        if ((code = number(l, i, compact[n], 11, &value, &there)) != HDX_OK)
            return code;
    *some = there && value != INT64_MIN; /* INT64_MIN marks a value that does not fit */
    if (*some)
        hdx_buffer_format(digits, "%lld", (long long)value);
    return HDX_OK;
}

hdx_code hdx_label_big_decimal(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some)
{
    hdx_code   code;
    int64_t    scale, precision;
    bool       has_scale, has_precision, known;
    hdx_buffer digits = hdx_buffer_of(NULL);
    (void)detail;
    code = unscaled(l, i, &digits, &known);
    l->out->failed = l->out->failed || digits.failed;
    if (code != HDX_OK || !known || digits.len == 0)
        goto out;
    if ((code = number(l, i, "scale", 10, &scale, &has_scale)) != HDX_OK ||
        (code = number(l, i, "precision", 10, &precision, &has_precision)) != HDX_OK)
        goto out;
    bool negative = digits.at[0] == '-';
    if (precision >= 0)
        *some = hdx_put_decimal(l->out, negative, digits.at + negative, digits.len - negative, (int32_t)scale,
                                (uint32_t)precision, HDX_LABEL_BYTES / 8);
out:
    hdx_buffer_free(&digits);
    return code;
}
