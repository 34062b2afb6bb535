/*
 * test_buffers.c - memory outside of the heap and what was not closed: against the truth beside the reference dumps,
 * and in heaps that are odd.
 */
#include "truth.h"

/* ---- what a program did ---- */

static void check_buffers(truth *t)
{
    const long long capacity = truth_number(t, "capacity_sum"), views = truth_number(t, "views_without_cleaner");
    uint64_t        n = 0, bytes = 0, shown = 0;
    const hdx_cell *cells;
    hdx_rows       *rows;
    ok_in(t, ask_plainly(&t->h, direct_buffers, &rows));
    while (hdx_rows_next(rows, &cells))
        if (cell_says(in_column(rows, cells, "field"), "Zoo$Refs#direct")) {
            cr_expect(cell_says(in_column(rows, cells, "kind"), "direct"), "%s", t->dump);
            n++;
            bytes += in_column(rows, cells, "capacity")->as.natural;
            shown += in_column(rows, cells, "views")->as.natural;
        }
    cr_expect(eq(u64, n, 6), "%s", t->dump);
    cr_expect(eq(u64, bytes, (uint64_t)capacity), "%s", t->dump);
    cr_expect(eq(u64, shown, (uint64_t)views), "%s", t->dump);
    char want[64];
    (void)snprintf(want, sizeof want, "{count=6 capacity=%lld}", capacity); /* the JDK's own count */
    expect_extra(rows, "reserved", want);
    hdx_rows_close(rows);
    ok_in(t, ask(&t->h, direct_buffers, &rows, { "by", "kind" }));
    (void)snprintf(want, sizeof want, "6,%lld\n", capacity);
    expect_columns(rows, "kind", "direct", "buffers capacity", want);
}

Test(truth, of_the_zoo_is_what_direct_buffers_say)
{
    golden_dumps d;
    truth        t;
    hdx_rows    *rows;
    if (!golden_open(&d))
        cr_skip("the reference collection is not beside this tree");
    while (truth_next(&d, "zoo-", &t)) {
        check_buffers(&t);
        ok_of(ask_plainly(&t.h, open_files, &rows));
        hdx_buffer b = columns_of(rows, "kind", "file", "number");
        cr_expect(b.len >= 6 && strcmp(b.at + b.len - 6, "0\n1\n2\n") == 0, "%s: %s", t.dump, b.at);
        hdx_buffer_free(&b);
        truth_close(&t);
    }
}

Test(truth, of_other_machines_has_what_was_open)
{
    static const struct {
        const char *dump, *has;
    } known[] = {
        { "sun_jdk6_18_x64", "zip,-,C:\\jdk1.6.0_16_x64\\jre\\lib\\management-agent.jar\n" },
        { "sun_jdk6_18_x64", "server,512,port 2224\n" },
        { "sun_jdk6_18_x64", "inflater,-,-\n" },
        { "oracle_jdk8_05_x64", "file,-,-\n" }, /* Windows: handles */
        { "dialer", "file,28,-\n" },
        { "art-ahat-test.hprof", "file,0,-\n" },
    };
    golden_dumps d;
    truth        t;
    hdx_rows    *rows;
    if (!golden_open(&d))
        cr_skip("the reference collection is not beside this tree");
    while (golden_next(&d))
        for (size_t i = 0; i < HDX_COUNT(known); i++)
            if (strstr(d.path, known[i].dump) != NULL) {
                truth_open(&t, d.path);
                ok_of(ask_plainly(&t.h, open_files, &rows));
                hdx_buffer b = columns_of(rows, NULL, NULL, "kind number name");
                cr_expect(strstr(b.at, known[i].has) != NULL, "%s: %s", known[i].has, b.at);
                hdx_buffer_free(&b);
                truth_close(&t);
            }
}

/* ---- made heaps ---- */

typedef struct made {
    dump_maker *m;
    uint64_t    object, string, direct, cleaner, dealloc, unmap, fd;
} made;

static made made_begin(void)
{
    made k = { .m = dump_maker_new(8) };
    k.m->next_id = 0x10000;
    k.object = dump_maker_class(k.m, "java.lang.Object", 0, "");
    dump_maker_class(k.m, "java.lang.Class", k.object, "");
    k.string = dump_maker_class(k.m, "java.lang.String", k.object, "value:L coder:B hash:I");
    dump_maker_class(k.m, "byte[]", k.object, "");
    const uint64_t buffer = dump_maker_class(k.m, "java.nio.Buffer", k.object, "address:J capacity:I");
    const uint64_t bytes = dump_maker_class(k.m, "java.nio.ByteBuffer", buffer, "hb:L");
    const uint64_t mapped = dump_maker_class(k.m, "java.nio.MappedByteBuffer", bytes, "fd:L");
    k.direct = dump_maker_class(k.m, "java.nio.DirectByteBuffer", mapped, "att:L cleaner:L");
    k.cleaner = dump_maker_class(k.m, "sun.misc.Cleaner", k.object, "thunk:L");
    k.dealloc = dump_maker_class(k.m, "java.nio.DirectByteBuffer$Deallocator", k.object, "address:J size:J capacity:I");
    k.unmap = dump_maker_class(k.m, "sun.nio.ch.FileChannelImpl$Unmapper", k.object, "address:J size:J fd:L");
    k.fd = dump_maker_class(k.m, "java.io.FileDescriptor", k.object, "fd:I handle:J");
    k.m->next_id = 0x20000;
    return k;
}

static uint64_t rooted(made *k, uint64_t id)
{
    dump_maker_root(k->m, HDX_SUB_ROOT_JNI_GLOBAL, id, 0, 0);
    return id;
}

static uint64_t buffer_of(made *k, uint64_t att, uint64_t cleaner, uint64_t address, uint64_t capacity)
{
    return rooted(k, dump_maker_instance(k->m, k->direct, DUMP_VALUES(att, cleaner, 0, 0, address, capacity)));
}

static uint64_t owner_of(made *k, uint64_t address, uint64_t capacity)
{
    const uint64_t thunk = dump_maker_instance(k->m, k->dealloc, DUMP_VALUES(address, capacity + 4096, capacity));
    return buffer_of(k, 0, dump_maker_instance(k->m, k->cleaner, DUMP_VALUES(thunk)), address, capacity);
}

Test(buffers, show_the_memory_of_others_by_reference_and_by_place)
{
    heap           h;
    hdx_rows      *rows;
    made           k = made_begin();
    const uint64_t owner = owner_of(&k, 0x1000, 1000);
    const uint64_t slice = buffer_of(&k, owner, 0, 0x1100, 100);
    buffer_of(&k, slice, 0, 0x1110, 50);     /* of a slice */
    buffer_of(&k, 0, 0, 0x1000, 1000);       /* the same memory, without a word of it */
    buffer_of(&k, 0, 0, 0x1200, 1001 - 512); /* ends one byte behind it: another one */
    buffer_of(&k, k.object, 0, 0x9000, 7);   /* of something that is no buffer */
    owner_of(&k, 0x1000, 300);               /* two owners stay two, whatever they say */
    owner_of(&k, 0, 20);                     /* freed */
    heap_open(&h, k.m);
    ok(ask_plainly(&h, direct_buffers, &rows));
    expect_columns(rows, NULL, NULL, "kind capacity views memory",
                   "direct,1000,3,0x1000\ndirect,300,0,0x1000\nnative,489,0,0x1200\nnative,7,0,0x9000\nfreed,0,0,-\n");
    ok(ask(&h, direct_buffers, &rows, { "by", "kind" }));
    expect_extra(rows, "total", "{buffers=5 views=3 capacity=1796 native=496 registered=0}");
    expect_rows(rows, "direct,2,3,1300\nnative,2,0,496\nfreed,1,0,0\n");
    heap_close(&h);
}

/* Android's native memory: sizes of its registries, whose lowest bit is a mark. What was freed is not registered. */
Test(buffers, are_also_objects_that_native_memory_is_registered_for)
{
    heap           h;
    hdx_rows      *rows;
    dump_maker    *m = dump_maker_new(4);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t reference = dump_maker_class(m, "java.lang.ref.Reference", object, "referent:L");
    const uint64_t cleaner = dump_maker_class(m, "sun.misc.Cleaner", reference, "next:L thunk:L");
    const uint64_t registry = dump_maker_class(m, "libcore.util.NativeAllocationRegistry", object, "size:J");
    const uint64_t thunk =
        dump_maker_class(m, "libcore.util.NativeAllocationRegistry$CleanerThunk", object, "nativePtr:J this$0:L");
    const uint64_t other = dump_maker_class(m, "app.Thunk", object, "nativePtr:J this$0:L");
    const uint64_t bitmap = dump_maker_class(m, "android.graphics.Bitmap", object, "");
    uint64_t       owners[4];
    m->next_id = 0x20000;
    for (unsigned i = 0; i < 4; i++)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, owners[i] = dump_maker_instance(m, bitmap, NULL), 0, 0);
    const struct {
        uint64_t owner, size, class, done;
    } all[] = { { owners[0], 4001, thunk, 0 }, { owners[1], 70, thunk, 0 },   { owners[1], 30, thunk, 0 },
                { owners[2], 5000, other, 0 }, { owners[3], 6000, thunk, 1 }, { 0, 7000, thunk, 0 } };
    for (size_t i = 0; i < HDX_COUNT(all); i++) {
        const uint64_t freer = dump_maker_instance(
            m, all[i].class, DUMP_VALUES(0x7000 + i, dump_maker_instance(m, registry, DUMP_VALUES(all[i].size))));
        const uint64_t at = 0x30000 + 0x100 * i;
        dump_maker_instance_at(m, at, cleaner, DUMP_VALUES(all[i].done ? at : 0, freer, all[i].owner));
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, at, 0, 0);
    }
    heap_open(&h, m);
    ok(ask_plainly(&h, direct_buffers, &rows));
    expect_extra(rows, "total", "{buffers=2 views=0 capacity=4100 native=0 registered=4100}");
    expect_columns(rows, NULL, NULL, "kind class capacity memory",
                   "registered,android.graphics.Bitmap,4000,0x7000\nregistered,android.graphics.Bitmap,100,0x7001\n");
    ok(ask(&h, direct_buffers, &rows, { "by", "kind" }));
    expect_rows(rows, "registered,2,0,4100\n");
    heap_close(&h);
}

Test(buffers, that_show_each_other_round_and_round_end)
{
    enum { A = 0x30000, B = 0x30100, C = 0x30200 };
    heap      h;
    hdx_rows *rows;
    made      k = made_begin();
    rooted(&k, dump_maker_instance_at(k.m, A, k.direct, DUMP_VALUES(B, 0, 0, 0, 0x1000, 10)));
    rooted(&k, dump_maker_instance_at(k.m, B, k.direct, DUMP_VALUES(A, 0, 0, 0, 0x2000, 10)));
    rooted(&k,
           dump_maker_instance_at(k.m, C, k.direct, DUMP_VALUES(C, 0, 0, 0, ~0ull >> 1, ~0u >> 1))); /* far too far */
    heap_open(&h, k.m);
    ok(ask_plainly(&h, direct_buffers, &rows));
    expect_columns(rows, NULL, NULL, "kind capacity views memory",
                   "native,2147483647,0,0x7fffffffffffffff\nnative,10,0,0x1000\nnative,10,0,0x2000\n");
    heap_close(&h);
}

Test(buffers, of_a_file_have_its_true_size_and_its_path_where_a_stream_has_the_descriptor)
{
    heap           h;
    hdx_rows      *rows;
    made           k = made_begin();
    const uint64_t raf = dump_maker_class(k.m, "java.io.RandomAccessFile", k.object, "fd:L path:L");
    const uint64_t fd = dump_maker_instance(k.m, k.fd, DUMP_VALUES(7, 0));
    rooted(&k, dump_maker_instance(k.m, raf, DUMP_VALUES(fd, dump_maker_string(k.m, k.string, "/var/data"))));
    const uint64_t thunk = dump_maker_instance(k.m, k.unmap, DUMP_VALUES(0x5000, 8192, fd));
    buffer_of(&k, 0, dump_maker_instance(k.m, k.cleaner, DUMP_VALUES(thunk)), 0x5000, 5000);
    const uint64_t array = dump_maker_primitives(k.m, 'B', NULL, 64);
    rooted(&k, dump_maker_instance(k.m, k.direct, DUMP_VALUES(0, 0, 0, array, 0x6000, 64))); /* Android's */
    heap_open(&h, k.m);
    ok(ask_plainly(&h, direct_buffers, &rows));
    expect_columns(rows, NULL, NULL, "kind capacity file", "mapped,8192,/var/data\narray,0,-\n");
    hdx_graph_close(h.g);
    ok(hdx_graph_open(h.index, NULL, &h.g, &h.err));
    h.q.graph = h.g;
    ok(ask_plainly(&h, direct_buffers, &rows));
    cr_expect(eq(str, (char *)hdx_rows_empty_reason(rows),
                 (char *)"buffer sizes are only in the dump, which is not available"));
    hdx_rows_close(rows);
    ok(ask_plainly(&h, open_files, &rows));
    cr_expect(
        eq(str, (char *)hdx_rows_empty_reason(rows), (char *)"open files are in the dump, which is not available"));
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(files, are_open_until_their_number_is_minus_one)
{
    heap           h;
    hdx_rows      *rows;
    made           k = made_begin();
    const uint64_t in = dump_maker_class(k.m, "java.io.FileInputStream", k.object, "fd:L path:L");
    const uint64_t socket_in = dump_maker_class(k.m, "java.net.SocketInputStream", in, "eof:Z");
    const uint64_t socket =
        dump_maker_class(k.m, "java.net.SocketImpl", k.object, "serverSocket:L fd:L address:L port:I localport:I");
    const uint64_t none = (uint32_t)-1;
    const uint64_t open = dump_maker_instance(k.m, k.fd, DUMP_VALUES(5, (uint64_t)-1));
    const uint64_t closed = dump_maker_instance(k.m, k.fd, DUMP_VALUES(none, (uint64_t)-1));
    const uint64_t windows = dump_maker_instance(k.m, k.fd, DUMP_VALUES(none, 0x44));
    const uint64_t talks = dump_maker_instance(k.m, k.fd, DUMP_VALUES(6, 0)),
                   listens = dump_maker_instance(k.m, k.fd, DUMP_VALUES(8, 0));
    const uint64_t path = dump_maker_string(k.m, k.string, "/a");
    rooted(&k, dump_maker_instance(k.m, k.fd, DUMP_VALUES(4, 0))); /* nobody has it */
    rooted(&k, dump_maker_instance(k.m, in, DUMP_VALUES(open, path)));
    rooted(&k, dump_maker_instance(k.m, in, DUMP_VALUES(closed, path)));
    rooted(&k, dump_maker_instance(k.m, in, DUMP_VALUES(windows, 0)));
    rooted(&k, dump_maker_instance(k.m, in, DUMP_VALUES(0, path)));
    rooted(&k, dump_maker_instance(k.m, socket_in, DUMP_VALUES(0, talks, 0))); /* says less than the socket */
    rooted(&k, dump_maker_instance(k.m, socket, DUMP_VALUES(0, talks, path, 443, 40000)));
    rooted(&k, dump_maker_instance(k.m, socket, DUMP_VALUES(k.object, listens, 0, 0, 80)));
    heap_open(&h, k.m);
    ok(ask_plainly(&h, open_files, &rows));
    expect_columns(rows, NULL, NULL, "kind number name",
                   "file,-,-\nfile,5,/a\ndescriptor,4,-\nserver,8,port 80\nsocket,6,/a:443 from 40000\n");
    ok(ask(&h, open_files, &rows, { "by", "kind" }));
    expect_rows(rows, "descriptor,1\nfile,2\nserver,1\nsocket,1\n");
    heap_close(&h);
}

/* Two sockets of the program, a jar of a class loader (as JDK 9 and later have it), a jar that the program opened. */
Test(files, of_the_program_come_before_those_of_the_class_path)
{
    heap           h;
    hdx_rows      *rows;
    made           k = made_begin();
    const uint64_t file = dump_maker_class(k.m, "java.io.RandomAccessFile", k.object, "fd:L path:L"),
                   out = dump_maker_class(k.m, "java.io.FileOutputStream", k.object, "fd:L path:L"),
                   source = dump_maker_class(k.m, "java.util.zip.ZipFile$Source", k.object, "zfile:L"),
                   resource = dump_maker_class(k.m, "java.util.zip.ZipFile$CleanableResource", k.object, "zsrc:L"),
                   zip = dump_maker_class(k.m, "java.util.zip.ZipFile", k.object, "res:L"),
                   jar = dump_maker_class(k.m, "java.util.jar.JarFile", zip, ""),
                   loader = dump_maker_class(k.m, "jdk.internal.loader.URLClassPath$JarLoader", k.object, "jar:L");
    static const char *const paths[] = { "app.jar", "data.zip" };
    const uint64_t           err = dump_maker_instance(k.m, k.fd, DUMP_VALUES(2, 0));
    rooted(&k, dump_maker_instance(k.m, out, DUMP_VALUES(err, 0)));
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t name = dump_maker_string(k.m, k.string, paths[i]);
        const uint64_t fd = dump_maker_instance(k.m, k.fd, DUMP_VALUES(3 + i, 0));
        const uint64_t z = dump_maker_instance(k.m, file, DUMP_VALUES(fd, name));
        const uint64_t s = dump_maker_instance(k.m, source, DUMP_VALUES(z));
        const uint64_t r = dump_maker_instance(k.m, resource, DUMP_VALUES(s));
        const uint64_t j = dump_maker_instance(k.m, jar, DUMP_VALUES(r));
        rooted(&k, i == 0 ? dump_maker_instance(k.m, loader, DUMP_VALUES(j)) : j);
    }
    for (unsigned i = 0; i < 2; i++)
        rooted(&k, dump_maker_instance(k.m, k.fd, DUMP_VALUES(10 + i, 0)));
    heap_open(&h, k.m);
    ok(ask_plainly(&h, open_files, &rows));
    expect_columns(rows, NULL, NULL, "kind number name class_path",
                   "descriptor,10,-,false\ndescriptor,11,-,false\nfile,4,data.zip,false\nfile,3,app.jar,true\n"
                   "file,2,-,false\n");
    heap_close(&h);
}

Test(files, are_also_what_has_an_address_or_a_number_of_its_own)
{
    heap           h;
    hdx_rows      *rows;
    made           k = made_begin();
    const uint64_t stream = dump_maker_class(k.m, "java.util.zip.ZStreamRef", k.object, "address:J");
    const uint64_t inflater = dump_maker_class(k.m, "java.util.zip.Inflater", k.object, "zsRef:L");
    const uint64_t deflater = dump_maker_class(k.m, "java.util.zip.Deflater", k.object, "strm:J"); /* JDK 6 */
    const uint64_t zip = dump_maker_class(k.m, "java.util.zip.ZipFile", k.object, "jzfile:J name:L closeRequested:Z");
    const uint64_t process = dump_maker_class(k.m, "java.lang.ProcessImpl", k.object, "pid:I hasExited:Z");
    const uint64_t name = dump_maker_string(k.m, k.string, "a.jar");
    const uint64_t used = dump_maker_instance(k.m, stream, DUMP_VALUES(0x7000)),
                   ended = dump_maker_instance(k.m, stream, DUMP_VALUES(0));
    rooted(&k, dump_maker_instance(k.m, inflater, DUMP_VALUES(used)));
    rooted(&k, dump_maker_instance(k.m, inflater, DUMP_VALUES(ended)));
    rooted(&k, dump_maker_instance(k.m, inflater, DUMP_VALUES(0)));
    rooted(&k, dump_maker_instance(k.m, deflater, DUMP_VALUES(0x8000)));
    rooted(&k, dump_maker_instance(k.m, zip, DUMP_VALUES(0x9000, name, 0)));
    rooted(&k, dump_maker_instance(k.m, zip, DUMP_VALUES(0x9000, name, 1)));
    rooted(&k, dump_maker_instance(k.m, process, DUMP_VALUES(77, 0)));
    rooted(&k, dump_maker_instance(k.m, process, DUMP_VALUES(78, 1)));
    heap_open(&h, k.m);
    ok(ask_plainly(&h, open_files, &rows));
    expect_columns(rows, NULL, NULL, "kind number name", "deflater,-,-\ninflater,-,-\nprocess,77,-\nzip,-,a.jar\n");
    heap_close(&h);
}
