/*
 * trouble_dump.h - a heap of suspects of every kind (MAT 7): what a static field, a thread, a frame, a class, a loader
 * or a root keeps; one object, a chain, a group with a point and one without; with names at the bounds of what is told.
 */
#ifndef HDX_TESTS_QUERY_TROUBLE_DUMP_H
#define HDX_TESTS_QUERY_TROUBLE_DUMP_H

#include "hprof/hprof.h"
#include "support/dump_maker.h"

#include <stdio.h>
#include <string.h>

#define NEW(class, ...) dump_maker_instance(m, class, DUMP_VALUES(__VA_ARGS__))
#define ROOT(id)        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, id, 0, 0)
#define BYTES(n)        dump_maker_primitives(m, 'B', NULL, n)

static inline uint64_t trouble_map(dump_maker *m, uint64_t map, uint64_t table_class, uint64_t node,
                                   uint64_t value_class, unsigned entries, uint32_t each)
{
    uint64_t table[16] = { 0 };
    for (unsigned i = 0; i < entries; i++)
        table[i % 16] = NEW(node, 0, NEW(value_class, BYTES(each)), table[i % 16]);
    return NEW(map, dump_maker_array(m, table_class, table, 16), entries);
}

static inline dump_maker *trouble_dump(void)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    n = 0, many[16];
    char        wide[260] = "app.", name[260];
    m->next_id = 0x10000;
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    const uint64_t loader = dump_maker_class(m, "java.lang.ClassLoader", object, "name:L parent:L");
    const uint64_t thread = dump_maker_class(m, "java.lang.Thread", object, "name:L job:L");
    const uint64_t string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I");
    (void)dump_maker_class(m, "byte[]", object, "");
    const uint64_t objects = dump_maker_class(m, "java.lang.Object[]", object, "");
    const uint64_t node = dump_maker_class(m, "java.util.HashMap$Node", object, "key:L value:L next:L");
    const uint64_t map = dump_maker_class(m, "java.util.HashMap", object, "table:L size:I");
    const uint64_t table = dump_maker_class(m, "java.util.HashMap$Node[]", object, "");
    const uint64_t list = dump_maker_class(m, "java.util.ArrayList", object, "elementData:L size:I");
    const uint64_t reference = dump_maker_class(m, "java.lang.ref.Reference", object, "referent:L");
    const uint64_t weak = dump_maker_class(m, "java.lang.ref.WeakReference", reference, "");
    const uint64_t box = dump_maker_class(m, "app.Box", object, "content:L");
    const uint64_t session = dump_maker_class(m, "app.Session", object, "content:L");
    const uint64_t pair = dump_maker_class(m, "app.Pair", object, "a:L b:L");
    const uint64_t app_loader = NEW(loader, dump_maker_string(m, string, "app"), 0);
    m->loader = app_loader;
    /* 1: a map in a static field, and in a local too */
    const uint64_t sessions = trouble_map(m, map, table, node, session, 12, 500);
    dump_maker_static(m, "count", 'I', 1);
    dump_maker_static(m, "sessions", 'L', sessions);
    const uint64_t store = dump_maker_class(m, "app.Store", object, "");
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, store, 0, 0);
    ROOT(NEW(box, sessions));
    /* 2: what a class alone has */
    dump_maker_static(m, "table", 'L', trouble_map(m, map, table, node, session, 1, 5900));
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "app.Cache", object, ""), 0, 0);
    m->loader = 0;
    /* 3: a local of a frame that is none of the JDK's, below one that is; 4: three locals alike; 5: a field of one */
    const uint64_t t1 = NEW(thread, dump_maker_string(m, string, "clerk"), 0);
    const uint64_t t2 = NEW(thread, dump_maker_string(m, string, "porter"), 0);
    memset(name, 'n', sizeof name);
    name[259] = '\0';
    const uint64_t t3 = NEW(thread, dump_maker_string(m, string, name), NEW(box, BYTES(4900)));
    const uint64_t t4 = NEW(thread, 0, NEW(pair, BYTES(2400), BYTES(2400)));
    const uint32_t jdk = dump_maker_load(m, list, "java/util/ArrayList"), own = dump_maker_load(m, store, "app/Store");
    const uint64_t frames[] = { dump_maker_frame(m, "forEach", jdk, 5), dump_maker_frame(m, "serve", own, 42),
                                dump_maker_frame(m, "main", own, 0) };
    for (uint32_t i = 1; i <= 4; i++)
        dump_maker_trace(m, i, i, frames, 3);
    uint32_t serial = 1;
    for (const uint64_t *t = (const uint64_t[]){ t1, t2, t3, t4, 0 }; *t != 0; t++, serial++)
        dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, *t, serial, (int32_t)serial);
    const uint64_t local = NEW(box, BYTES(5500));
    for (int32_t i = 2; i >= 0; i--)
        dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, local, 1, i);
    for (int32_t i = 0; i < 3; i++)
        dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, NEW(box, BYTES(i == 2 ? 1900 : 1700)), 2, i);
    /* 6: an array by itself; 7: one of objects; 8: in a list; 9: a single object */
    ROOT(BYTES(5100));
    for (n = 0; n < 13; n++)
        many[n] = NEW(box, BYTES(360));
    ROOT(dump_maker_array(m, objects, many, 13));
    for (n = 0; n < 11; n++)
        many[n] = NEW(box, BYTES(400));
    ROOT(NEW(list, dump_maker_array(m, objects, many, 11), 11));
    ROOT(NEW(pair, NEW(pair, BYTES(2000), BYTES(2200)), BYTES(300)));
    /* 10: behind weak references alone */
    const uint64_t cached = NEW(box, BYTES(4200));
    ROOT(NEW(weak, cached));
    ROOT(NEW(weak, cached));
    /* 11: a loader */
    const uint64_t other_loader = dump_maker_class(m, "app.Loader", loader, "what:L");
    ROOT(dump_maker_instance(m, other_loader, DUMP_VALUES(BYTES(4100), dump_maker_string(m, string, "plugin"), 0)));
    /* 12: a chain of nodes of a list */
    uint64_t next = 0;
    for (n = 0; n < 24; n++)
        next = NEW(node, 0, BYTES(100), next);
    ROOT(next);
    /* 13: a group that one array has, which a static field leads to; each is behind a second way */
    const uint64_t member = dump_maker_class(m, "app.Member", object, "content:L");
    for (n = 0; n < 8; n++)
        many[n] = NEW(member, BYTES(460));
    const uint64_t all = dump_maker_array(m, objects, many, 8);
    dump_maker_static(m, "members", 'L', NEW(list, all, 8));
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "app.Club", object, ""), 0, 0);
    ROOT(NEW(box, NEW(box, dump_maker_array(m, objects, many, 8))));
    /* 14: a group that nothing has together; 15: one of a class of the JDK, which app.Guest refers to */
    const uint64_t loose = dump_maker_class(m, "app.Loose", object, "content:L");
    for (n = 0; n < 7; n++)
        ROOT(NEW(loose, BYTES(500)));
    const uint64_t guest = dump_maker_class(m, "app.Guest", object, "has:L");
    for (n = 0; n < 9; n++)
        many[n] = NEW(list, BYTES(340), 0);
    const uint64_t lists = dump_maker_array(m, objects, many, 9);
    ROOT(NEW(guest, lists));
    ROOT(NEW(list, NEW(list, dump_maker_array(m, objects, many, 9), 9), 1));
    /* 16: classes together */
    for (n = 0; n < 5; n++) {
        (void)snprintf(name, sizeof name, "app.Heavy%u", (unsigned)n);
        dump_maker_static(m, "bytes", 'L', BYTES(700));
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, name, object, ""), 0, 0);
    }
    /* 17: a name of more than 200 bytes, which end within a character; one of 200 */
    for (n = 0; n < 110; n++)
        strcat(wide, n == 0 ? "x" : "\xc3\xa9");
    ROOT(NEW(dump_maker_class(m, wide, object, "content:L"), BYTES(3000)));
    memset(name, 'y', sizeof name);
    memcpy(name, "app.", 4);
    name[120] = '\0';
    ROOT(NEW(dump_maker_class(m, name, object, "content:L"), BYTES(2900)));
    return m;
}

#undef NEW
#undef ROOT
#undef BYTES

#endif
