/*
 * label.h - between label.c, which finds the rule for an object, and label_kinds.c, which holds the rules.
 */
#ifndef HDX_GRAPH_LABEL_H
#define HDX_GRAPH_LABEL_H

#include "graph/inside.h"

#define HDX_LABEL_CHARS 1024u /* of a text, where it is not wanted whole (MAT 10.4) */
#define HDX_LABEL_DEPTH 8u    /* labels inside labels: an AtomicReference may hold itself */
#define HDX_LABEL_STEPS 64u   /* objects looked at for one label */
#define HDX_LABEL_BYTES (1u << 20)
#define HDX_LABEL_WHOLE (UINT32_MAX - 1u) /* bytes of a whole one: as many as a cell can say */

typedef struct hdx_labels {
    hdx_graph          *g;
    hdx_buffer         *out;
    unsigned            depth; /* labels being made inside each other now */
    unsigned            steps; /* objects looked at so far */
    hdx_error          *err;
    hdx_whole           whole;
    uint64_t            most;     /* bytes of the label */
    const hdx_progress *progress; /* of a long one; NULL: nobody stops it */
} hdx_labels;

/* Appends the label of an object; *some false: it has none, and nothing was appended. */
hdx_code hdx_label_append(hdx_labels *l, hdx_id id, bool *some);

/*
 * The first characters of a text, all where it is wanted whole; *read: how many. dots: of a byte[], whose bytes are
 * shown as dots where they cannot be printed.
 */
hdx_code hdx_label_units(hdx_labels *l, const hdx_chars *c, bool dots, uint64_t *read);

/*
 * A rule appends the label of an instance, which it sees as one of the class that has the rule: fields that subclasses
 * declare are not its business, even under the same names. `detail` is what its row of the table says. *some is false
 * when it is called.
 */
typedef hdx_code hdx_label_rule(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some);

hdx_label_rule hdx_label_string, hdx_label_builder, hdx_label_field, hdx_label_constant, hdx_label_value,
    hdx_label_flag, hdx_label_adder, hdx_label_url, hdx_label_uri, hdx_label_member, hdx_label_frame,
    hdx_label_member_name, hdx_label_inet4, hdx_label_inet6, hdx_label_socket_address, hdx_label_channel,
    hdx_label_locale, hdx_label_base_locale, hdx_label_ulocale, hdx_label_big_integer, hdx_label_big_decimal,
    hdx_label_numbers, hdx_label_version, hdx_label_webapp;

#endif
