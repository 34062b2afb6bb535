/* label.h - shared by label.c, which finds the rule for an object, and label_kinds.c, which contains the rules. */
#ifndef HDX_GRAPH_LABEL_H
#define HDX_GRAPH_LABEL_H

#include "graph/inside.h"

#define HDX_LABEL_CHARS 1024u /* of a text, unless the whole is wanted (MAT 10.4) */
#define HDX_LABEL_DEPTH 8u    /* labels inside of labels: an AtomicReference may contain itself */
#define HDX_LABEL_STEPS 64u   /* most objects that one label may read */
#define HDX_LABEL_BYTES (1u << 20)
#define HDX_LABEL_WHOLE (UINT32_MAX - 1u) /* most bytes of a whole label: as many as a cell can have */

typedef struct hdx_labels {
    hdx_graph          *g;
    hdx_buffer         *out;
    unsigned            depth; /* current nesting of labels */
    unsigned            steps; /* objects read so far */
    hdx_error          *err;
    hdx_whole           whole;
    uint64_t            most;     /* most bytes of the label */
    const hdx_progress *progress; /* for long labels; NULL: not cancelled */
} hdx_labels;

/* Appends the label of an object. *some is false if it has none; nothing is appended then. */
hdx_code hdx_label_append(hdx_labels *l, hdx_id id, bool *some);

/*
 * Appends the first characters of a text, or all if the whole is wanted; *read: their number. dots: the text is a
 * byte[], whose unprintable bytes are written as dots.
 */
hdx_code hdx_label_units(hdx_labels *l, const hdx_chars *c, bool dots, uint64_t *read);

/*
 * A rule appends the label of an instance, which it views as an instance of the class that has the rule: fields that
 * subclasses declare are ignored, even if they have the same names. `detail` is an entry of the table of rules.
 * REQUIRES: *some is false.
 */
typedef hdx_code hdx_label_rule(hdx_labels *l, const hdx_instance *i, const char *detail, bool *some);

hdx_label_rule hdx_label_string, hdx_label_builder, hdx_label_field, hdx_label_constant, hdx_label_value,
    hdx_label_flag, hdx_label_adder, hdx_label_url, hdx_label_uri, hdx_label_member, hdx_label_frame,
    hdx_label_member_name, hdx_label_inet4, hdx_label_inet6, hdx_label_socket_address, hdx_label_channel,
    hdx_label_locale, hdx_label_base_locale, hdx_label_ulocale, hdx_label_big_integer, hdx_label_big_decimal,
    hdx_label_numbers, hdx_label_version, hdx_label_webapp;

#endif
