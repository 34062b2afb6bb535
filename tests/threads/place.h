/*
 * place.h - what the programs of this folder share: a folder of their own, a dump that uses many kinds of objects, and
 * an end with words.
 *
 * Plain programs, not Criterion: it forks its tests, and ThreadSanitizer does not follow. Exit 0: all well.
 */
#ifndef HDX_TESTS_THREADS_PLACE_H
#define HDX_TESTS_THREADS_PLACE_H

#include "base/base.h"
#include "hprof/hprof.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct place {
    char folder[TEST_FOLDER], dump[96];
} place;

static inline void die(const char *what, const hdx_error *err)
{
    fprintf(stderr, "%s: %s: %s\n", what, err == NULL ? "" : err->where, err == NULL ? "" : err->message);
    exit(1);
}

static inline uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (*state >> 33) % below;
}

/*
 * Nodes in rings and trees, strings, arrays of references and of bytes, a thread with a stack and locals, weak
 * references, garbage.
 */
static inline dump_maker *mixed_dump(uint64_t objects)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    state = 7, previous = 0, classes[40], refs[16];
    char        text[32];
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
    uint64_t    string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I");
    uint64_t    thread = dump_maker_class(m, "java.lang.Thread", object, "name:L");
    uint64_t    array = dump_maker_class(m, "[Ljava.lang.Object;", object, "");
    uint64_t    weak = dump_maker_class(m, "java.lang.ref.WeakReference", object, "referent:L");
    uint64_t    name = dump_maker_string(m, string, "worker");
    uint64_t    worker = dump_maker_instance(m, thread, DUMP_VALUES(name));
    for (unsigned c = 0; c < 40; c++) {
        snprintf(text, sizeof text, "app%u.Node%u", c % 5, c);
        classes[c] = dump_maker_class(m, text, c % 3 == 0 || c == 1 ? object : classes[c - 2],
                                      c % 3 == 0 || c == 1 ? "next:L other:L text:L" : "more:L");
    }
    for (uint64_t i = 0; i < objects; i++) {
        uint64_t here = 0, kind = draw(&state, 10);
        for (unsigned k = 0; k < 16; k++)
            refs[k] = draw(&state, 4) == 0 || previous == 0 ? 0 : name + 32 * draw(&state, (m->next_id - name) / 32);
        refs[0] = previous;
        if (kind == 0) {
            snprintf(text, sizeof text, "text %llu", (unsigned long long)i);
            here = dump_maker_string(m, string, text);
        } else if (kind == 1) {
            here = dump_maker_array(m, array, refs, (uint32_t)draw(&state, 16));
        } else if (kind == 2) {
            (void)dump_maker_primitives(m, 'B', NULL, (uint32_t)draw(&state, 200)); /* garbage mostly */
        } else if (kind == 3) {
            here = dump_maker_instance(m, weak, refs);
        } else {
            here = dump_maker_instance(m, classes[draw(&state, 40)], refs);
        }
        previous = here != 0 && draw(&state, 50) != 0 ? here : previous;
        if (draw(&state, 500) == 0)
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, previous, 0, 0);
        if (i % 20000 == 19999)
            dump_maker_segment(m);
    }
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, worker, 1, 1);
    dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, previous, 1, 0);
    return m;
}

static inline void place_make(place *p, uint64_t objects)
{
    test_folder_make(p->folder, "threads");
    snprintf(p->dump, sizeof p->dump, "%s/a.hprof", p->folder);
    dump_maker *m = mixed_dump(objects);
    dump_maker_save(m, p->dump);
    dump_maker_free(m);
}

static inline void place_remove(const place *p) { test_folder_remove(p->folder); }

static inline void build_index(const place *p, const char *index, unsigned threads)
{
    hdx_index_options options = { .dump = p->dump, .index_dir = index, .threads = threads };
    hdx_index_report  report;
    hdx_error         err;
    if (hdx_index_build(&options, &report, &err) != HDX_OK)
        die("building", &err);
}

#endif
