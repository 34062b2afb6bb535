/*
 * shapes.h - a little heap that has something of everything: classes of one name, fields hidden by fields, statics,
 * texts of both codings, arrays that are empty, hold what is nowhere or the same twice, an instance of java.lang.Class
 * that is no class object, threads with locals, garbage that refers to what is live.
 */
#ifndef TESTS_GRAPH_SHAPES_H
#define TESTS_GRAPH_SHAPES_H

#include "graph/little_index.h"

static inline little *shapes(uint32_t id_size)
{
    little *l = little_new_of(id_size);
    little_static(l, "HI_BYTE_SHIFT", 'I', 0);
    (void)little_class(l, "java.lang.StringUTF16", l->object, "");
    const uint64_t string = little_class(l, "java.lang.String", l->object, "hash:I value:L coder:B");
    const uint64_t node = little_class(l, "app.Node", l->object, "next:L other:L count:I");
    const uint64_t leaf = little_class(l, "app.Leaf", node, "next:L weight:J");
    const uint64_t thread = little_class(l, "java.lang.Thread", l->object, "name:L");
    const uint64_t held = little_instance(l, node, DUMP_VALUES(0, 0, 3));
    little_static(l, "limit", 'I', 12);
    little_static(l, "shared", 'L', held);
    little_static(l, "far", 'L', 0xbad0);
    little_static(l, "long", 'J', 1ull << 40);
    (void)little_class(l, "app.Node", node, ""); /* a second one of this name */
    const uint64_t chars = little_text(l, 'C', "chars"), bytes = little_text(l, 'B', "bytes in a row"),
                   wide = little_primitives(l, 'B', DUMP_VALUES(0xac, 0x20, 'a', 0), 4),
                   ints = little_primitives(l, 'I', DUMP_VALUES(1, 0x80000000, 0xffffffff), 3);
    const uint64_t text = little_instance(l, string, DUMP_VALUES(0, bytes, 0)),
                   euro = little_instance(l, string, DUMP_VALUES(0, wide, 1));
    (void)little_instance(l, string, DUMP_VALUES(0, 0xbad0, 0)); /* garbage, and its text is nowhere */
    (void)little_instance(l, string, DUMP_VALUES(0, little_text(l, 'C', "x"), 0));
    const uint64_t below = little_instance(l, node, DUMP_VALUES(held, text, 1)),
                   last = little_instance(l, leaf, DUMP_VALUES(below, 1ull << 33, held, below, 2));
    const uint64_t array = little_array(l, l->objects, DUMP_VALUES(last, 0, ints, 0xbad0, last, euro), 6),
                   none = little_array(l, l->objects, NULL, 0), empty = little_text(l, 'C', "");
    (void)little_instance(l, node, DUMP_VALUES(last, none, 9));              /* garbage that refers to what is live */
    const uint64_t mirror = little_instance(l, l->class, DUMP_VALUES(text)); /* int.class is no class object */
    const uint64_t holder = little_instance(l, node, DUMP_VALUES(array, mirror, 0));
    const uint64_t main = little_instance(l, thread, DUMP_VALUES(text)),
                   other = little_instance(l, thread, DUMP_VALUES(empty));
    little_root(l, HDX_ROOT_SYSTEM_CLASS, l->object, 0);
    little_root(l, HDX_ROOT_NATIVE_STATIC, holder, 0);
    little_root(l, HDX_ROOT_THREAD_OBJ, main, 0);
    little_root(l, HDX_ROOT_THREAD_OBJ, other, 0);
    little_root(l, HDX_ROOT_JAVA_LOCAL, chars, main);
    little_root(l, HDX_ROOT_NATIVE_LOCAL, chars, main);
    little_root(l, HDX_ROOT_JAVA_LOCAL, below, main);
    little_root(l, HDX_ROOT_JAVA_LOCAL, chars, other);
    l->threads[l->thread_count++] = (hdx_thread){ .object = main, .serial = 7 };
    l->threads[l->thread_count++] = (hdx_thread){ .object = other, .serial = 9 };
    return l;
}

#endif
