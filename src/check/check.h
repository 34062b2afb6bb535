/*
 * check.h - parses rules with which a heap must comply (`heapdex check`). This room only reads words and numbers: the
 * room `answer` measures heaps, and <heapdex/check.h> declares the results.
 *
 *     [NAME:] max MEASURE [PATTERN] VALUE                       [because REASON]
 *     [NAME:] min MEASURE [PATTERN] VALUE                       [because REASON]
 *     [NAME:] growth [MEASURE] [PATTERN] VALUE [above FLOOR]    [because REASON]
 *     [NAME:] no leaks application|library|all [watched|filters]
 *     [NAME:] no suspects [PERCENT]
 *     [NAME:] no damage
 *
 * A word may be quoted with '...' or "..."; a reason extends to the end of the line. In a file each line is a rule, and
 * # at the beginning of a word begins a comment. `PATTERN+` means the classes of the pattern and their subclasses.
 *
 * Example:
 *     hdx_rule r;
 *     const hdx_text  text = { "objects com.acme.Session 10k", 28 };
 *     if (hdx_rule_read(&(hdx_rule_source){ .verb = "max" }, text, &arena, &r, &err) == HDX_OK)
 *         printf("%s: %llu\n", hdx_measure_name(r.measure), (unsigned long long)r.limit);
 *
 * Invariants
 *   1. A rule that was parsed can be measured on any heap: its measure accepts the pattern and the value.
 *   2. An invalid rule is refused with HDX_USAGE, a message of one line, and (in a file) the number of the line.
 */
#ifndef HDX_CHECK_CHECK_H
#define HDX_CHECK_CHECK_H

#include "base/base.h"
#include <heapdex/check.h>

typedef enum hdx_verb { HDX_VERB_MAX, HDX_VERB_MIN, HDX_VERB_GROWTH, HDX_VERB_NO } hdx_verb;

typedef enum hdx_measure {
    HDX_MEASURE_OBJECTS, /* of instances of classes, like the next two */
    HDX_MEASURE_SHALLOW,
    HDX_MEASURE_RETAINED,
    HDX_MEASURE_LIVE, /* of the whole heap */
    HDX_MEASURE_UNREACHABLE,
    HDX_MEASURE_CLASSES,
    HDX_MEASURE_LOADERS,
    HDX_MEASURE_THREADS,
    HDX_MEASURE_DUPLICATE_CLASSES,
    HDX_MEASURE_OPEN_FILES,
    HDX_MEASURE_DIRECT_BUFFERS,
    HDX_MEASURE_WASTE,
    HDX_MEASURE_LEAKS, /* for `no`, like the next two */
    HDX_MEASURE_SUSPECTS,
    HDX_MEASURE_DAMAGE,
    HDX_MEASURES
} hdx_measure;
const char *hdx_measure_name(hdx_measure measure); /* Returns "objects", "open-files" ... A constant string. */
bool        hdx_measure_is_bytes(hdx_measure measure);

typedef enum hdx_waste { HDX_WASTE_STRINGS, HDX_WASTE_COLLECTIONS, HDX_WASTE_ARRAYS } hdx_waste;
enum { HDX_RULE_APPLICATION = 1, HDX_RULE_LIBRARY = 2, HDX_RULE_UNREACHABLE = 4 }; /* which leaks */

typedef struct hdx_rule { /* texts are in the arena of the reader */
    hdx_verb    verb;
    hdx_measure measure;
    const char *name, *reason; /* NULL: not given */
    const char *text;          /* from the verb to the value, with one blank between words */
    const char *pattern;       /* of classes, or of names; NULL: all */
    bool        subclasses;
    hdx_waste   waste;
    unsigned    leaks;   /* HDX_RULE_... */
    bool        filters; /* leaks are objects in a leaking state, not watched objects */
    bool        percent; /* the limit is `share`, in percent; otherwise `limit` */
    uint64_t    limit;
    double      share;
    uint64_t    floor;   /* of growth: smaller values are ignored */
    bool        floored; /* the rule has one */
    const char *file;    /* NULL: not from a file */
    uint64_t    line;
} hdx_rule;

typedef struct hdx_rule_source {
    const char *verb; /* that precedes the text ("max"); NULL: the text contains it */
    const char *file; /* for messages; NULL: none */
    uint64_t    line;
} hdx_rule_source;
hdx_code hdx_rule_read(const hdx_rule_source *source, hdx_text text, hdx_arena *arena, hdx_rule *out, hdx_error *err);

typedef struct hdx_rules { /* all zero at first; in the arena */
    hdx_rule *at;
    uint64_t  count, capacity;
} hdx_rules;
hdx_code hdx_rules_add(hdx_rules *rules, const hdx_rule *rule, hdx_arena *arena, hdx_error *err);
/* Reads a rule from each line of a file. REQUIRES: `name` outlives the rules. */
hdx_code hdx_rules_read_file(hdx_rules *rules, const char *name, hdx_text content, hdx_arena *arena, hdx_error *err);

#endif
