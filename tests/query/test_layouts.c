/*
 * test_layouts.c - lines of layouts (query/common/layouts.h): what is read out of them, each limit and one beyond it,
 * every word that is refused; which of several lines holds for a class.
 */
#include "heap.h"
#include "query/common/layouts.h"
#include "support/faulty.h"

static hdx_code read_text(hdx_layouts *l, hdx_mem *mem, const char *text, hdx_error *err)
{
    *err = (hdx_error){ .code = HDX_OK };
    cr_assert(eq(int, hdx_layouts_begin(l, mem, err), HDX_OK));
    return hdx_layouts_read(l, "mine", text, strlen(text), err);
}

/* What is said of the text: "", or words of the error. */
#define expect_said(text, want)                                                                                        \
    do {                                                                                                               \
        hdx_layouts l_;                                                                                                \
        hdx_error   err_;                                                                                              \
        const bool  read_ = read_text(&l_, NULL, text, &err_) == HDX_OK;                                               \
        cr_expect(eq(str, read_ ? (char *)"" : err_.message, (char *)(want)), "%.200s", text);                         \
        cr_expect(read_ || err_.code == HDX_USAGE);                                                                    \
        hdx_layouts_free(&l_);                                                                                         \
    } while (0)

/* ---- what is read ---- */

static void put_path(hdx_buffer *b, const hdx_layouts *l, const hdx_field_path *p)
{
    for (unsigned i = 0; i < p->count; i++) {
        if (p->step[i] == HDX_STEP_EACH) {
            hdx_buffer_text(b, "[]");
            continue;
        }
        hdx_buffer_text(b, i == 0 ? "" : ".");
        hdx_buffer_put(b, l->names.at[p->step[i]].at, l->names.at[p->step[i]].len);
    }
}

static void put_paths(hdx_buffer *b, const hdx_layouts *l, const char *word, const hdx_field_paths *p)
{
    for (unsigned i = 0; i < p->count; i++) {
        hdx_buffer_format(b, i == 0 ? " %s=" : ",", word);
        put_path(b, l, &p->at[i]);
    }
}

static void put_one(hdx_buffer *b, const hdx_layouts *l, const char *word, const hdx_field_path *p)
{
    if (p->count > 0)
        hdx_buffer_format(b, " %s=", word);
    put_path(b, l, p);
}

static void put_static(hdx_buffer *b, const char *word, const hdx_static_name *s)
{
    if (s->class_name != NULL)
        hdx_buffer_format(b, " %s=%s#%.*s", word, s->class_name, (int)s->field.len, s->field.at);
}

/* A line as it would be written. */
static void put_line(hdx_buffer *b, const hdx_layouts *l, const hdx_layout *line)
{
    static const char *const ways[] = { "none",    "slots", "sparse", "pairs",  "keys",
                                        "buckets", "first", "root",   "fields", "of" };
    static const char *const takes[] = { "", " take=keys", " take=values" };
    static const char *const frees[] = { "", " free=key", " free=value", " free=none" };
    hdx_buffer_format(b, "%.*s%s %s", (int)line->class_name.len, line->class_name.at, line->glob ? "!" : "",
                      hdx_collection_kind_name(line->kind));
    for (unsigned i = 0; i < line->term_count; i++) {
        hdx_buffer_text(b, i == 0 ? " size=" : "+");
        if (line->term[i].sign == 0)
            hdx_buffer_format(b, "%llu", (unsigned long long)line->term[i].number);
        else if (line->term[i].sign != '=')
            hdx_buffer_format(b, "%c", line->term[i].sign);
        put_path(b, l, &line->term[i].path);
    }
    put_paths(b, l, ways[line->way], &line->source);
    put_paths(b, l, "values", &line->values);
    put_paths(b, l, "key", &line->key);
    put_paths(b, l, "value", &line->value);
    put_one(b, l, "from", &line->from);
    put_one(b, l, "to", &line->to);
    put_one(b, l, "bits", &line->bits);
    put_one(b, l, "last", &line->last);
    put_one(b, l, "next", &line->next);
    put_one(b, l, "left", &line->left);
    put_one(b, l, "right", &line->right);
    put_one(b, l, "bin", &line->bin);
    hdx_buffer_format(b, "%s%s", takes[line->take], frees[line->free]);
    put_static(b, "nothing", &line->nothing);
    put_static(b, "null", &line->null);
    put_static(b, "chain", &line->chain);
    for (unsigned i = 0; i < line->unwrap_count; i++) {
        const hdx_unwrap *u = &line->unwrap[i];
        hdx_buffer_format(b, "%s%.*s#%.*s%s", i == 0 ? " unwrap=" : ",", (int)u->class_name.len, u->class_name.at,
                          (int)l->names.at[u->field].len, l->names.at[u->field].at, u->reference ? "!" : "");
    }
    hdx_buffer_format(b, "%s%s\n", line->hidden ? " hidden" : "", line->unknown ? " unknown" : "");
}

static hdx_buffer all_lines(const hdx_layouts *l)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    hdx_buffer_text(&b, "");
    for (uint64_t i = 0; i < l->lines.count; i++)
        put_line(&b, l, &l->lines.at[i]);
    return b;
}

static const char written[] = "app.A list size=n slots=items from=head to=tail\n"
                              "app.B* set size=%on+12+#a.b+?c slots=x[].y,z bits=on last=l free=none\n"
                              "app.C map root=top key=k,l value=v,w.x left=l right=r take=values hidden\n"
                              "app.D queue first=this next=next value=item bin=b free=key null=app.M#N chain=a#b\n"
                              "app.E map keys=k values=v last=z nothing=app.M#O free=value take=keys\n"
                              "app.F? map fields=a,b,c,d\n"
                              "app.G list of=x.y hidden\n"
                              "app.H map unknown\n"
                              "app.I set sparse=a[].b[].c[]\n"
                              "app.J map buckets=t next=n key=k\n"
                              "app.K map pairs=p\n"
                              "app.L map of=m value=node unwrap=app.Ref$*#referent,app.Box#value\n";

Test(lines, are_read_word_by_word)
{
    static const char want[] = "app.A list size=n slots=items from=head to=tail\n"
                               "app.B*! set size=%on+12+#a.b+?c slots=x[].y,z bits=on last=l free=none\n"
                               "app.C map root=top key=k,l value=v,w.x left=l right=r take=values hidden\n"
                               "app.D queue first=this value=item next=next bin=b free=key null=app.M#N chain=a#b\n"
                               "app.E map keys=k values=v last=z take=keys free=value nothing=app.M#O\n"
                               "app.F?! map fields=a,b,c,d\n"
                               "app.G list of=x.y hidden\n"
                               "app.H map unknown\n"
                               "app.I set sparse=a[].b[].c[]\n"
                               "app.J map buckets=t key=k next=n\n"
                               "app.K map pairs=p\n"
                               "app.L map of=m value=node unwrap=app.Ref$*#referent!,app.Box#value\n";
    hdx_layouts       l;
    hdx_error         err;
    cr_assert(eq(int, read_text(&l, NULL, written, &err), HDX_OK), "%s", err.message);
    hdx_buffer b = all_lines(&l);
    cr_expect(eq(str, b.at, (char *)want));
    hdx_buffer_free(&b);
    hdx_layouts_free(&l);
}

Test(lines, may_have_blanks_and_comments)
{
    hdx_layouts l;
    hdx_error   err;
    cr_assert(eq(int,
                 read_text(&l, NULL,
                           "\r\n \t app.A \t list\tsize=n\r\n#app.B list size=n\n app.C set size=1 # word\n\n"
                           "app.D map size=2",
                           &err),
                 HDX_OK),
              "%s", err.message);
    hdx_buffer b = all_lines(&l);
    cr_expect(eq(str, b.at, (char *)"app.A list size=n\napp.C set size=1\napp.D map size=2\n"));
    hdx_buffer_free(&b);
    hdx_layouts_free(&l);
}

Test(lines, are_read_as_a_whole_or_not_at_all_when_memory_is_refused)
{
    unsigned refused = 0;
    for (unsigned n = 1;; n++) {
        hdx_mem     mem = { .limit = 0 };
        faulty_mem  f;
        hdx_layouts l;
        hdx_error   err;
        faulty_mem_init(&f, &mem, n);
        const hdx_code code = read_text(&l, &mem, written, &err);
        cr_expect(eq(int, code, faulty_mem_fired(&f) ? HDX_LIMIT : HDX_OK), "request %u", n);
        hdx_layouts_free(&l);
        cr_expect(eq(u64, atomic_load(&mem.used), 0));
        if (!faulty_mem_fired(&f))
            break;
        refused++;
    }
    cr_expect(gt(u32, refused, 5));
}

/* ---- what is refused ---- */

Test(lines, that_are_wrong_say_why)
{
    static const struct {
        const char *words, *says;
    } all[] = {
        { "heap size=n", "list, map, set or queue is expected: 'heap'" },
        { "", "list, map, set or queue is expected: ''" },
        { "list slots=a,b,c,d,e,f,g,h,i,j", "" },
        { "list slots=a,b,c,d,e,f,g,h,i,j,k", "ten paths at most: 'a,b,c,d,e,f,g,h,i,j,k'" },
        { "list slots=a.b.c.d.e.f.g.h", "" },
        { "list slots=a.b.c.d.e.f.g.h.i", "a path has 8 steps at most: 'a.b.c.d.e.f.g.h.i'" },
        { "list slots=a.b.c.d.e.f.g[]", "" },
        { "list slots=a.b.c.d.e.f.g.h[]", "a path has 8 steps at most: 'a.b.c.d.e.f.g.h[]'" },
        { "list slots=a[][][][][][][]", "" },
        { "list slots=a[][][][][][][][]", "a path has 8 steps at most: 'a[][][][][][][][]'" },
        { "list slots=a,", "the name of a field is expected: ''" },
        { "list slots=a.", "a path such as map.table or segments[].count is expected: 'a.'" },
        { "list slots=.a", "a path such as map.table or segments[].count is expected: '.a'" },
        { "list slots=[]", "a path such as map.table or segments[].count is expected: '[]'" },
        { "list slots=a[0]", "a path such as map.table or segments[].count is expected: 'a[0]'" },
        { "list slots=a[", "a path such as map.table or segments[].count is expected: 'a['" },
        { "list size=a+b+c+d+e+f", "" },
        { "list size=a+b+c+d+e+f+g", "six terms at most: 'a+b+c+d+e+f+g'" },
        { "list size=a size=b+c+d+e+f+g", "six terms at most: 'b+c+d+e+f+g'" },
        { "list size=9999999999", "" },
        { "list size=12345678901", "a number of at most 10 digits is expected: '12345678901'" },
        { "list size=1a", "a number of at most 10 digits is expected: '1a'" },
        { "list size=1/", "a number of at most 10 digits is expected: '1/'" },
        { "list size=1:", "a number of at most 10 digits is expected: '1:'" },
        { "list size=+a", "the name of a field is expected: ''" },
        { "list size=#", "the name of a field is expected: ''" },
        { "list size=a[].b", "" },
        { "list size=a[]", "one [] at most, and a field after it: 'a[]'" },
        { "list size=a[].b[].c", "one [] at most, and a field after it: 'a[].b[].c'" },
        { "list slots=a sparse=b", "elements are described twice: 'sparse'" },
        { "map keys=a,b", "one path is expected: 'a,b'" },
        { "list first=a,b next=n value=v", "one path is expected: 'a,b'" },
        { "map root=a,b left=l right=r key=k", "one path is expected: 'a,b'" },
        { "list of=a,b", "one path is expected: 'a,b'" },
        { "list sparse=a,b", "" },
        { "map pairs=a,b", "" },
        { "map buckets=a,b next=n key=k", "" },
        { "list sparse=a[]", "" },
        { "map pairs=a[]", "" },
        { "map buckets=a[] next=n key=k", "" },
        { "map keys=a[]", "[] is not allowed here: 'a[]'" },
        { "list first=a[].b next=n value=v", "[] is not allowed here: 'a[].b'" },
        { "map root=a[].b left=l right=r key=k", "[] is not allowed here: 'a[].b'" },
        { "list fields=a[].b", "[] is not allowed here: 'a[].b'" },
        { "list of=a[].b", "[] is not allowed here: 'a[].b'" },
        { "list slots=a from=b[].c", "[] is not allowed here: 'b[].c'" },
        { "list slots=a key=b,c[].d", "[] is not allowed here: 'b,c[].d'" },
        { "list slots=a value=c[].d", "[] is not allowed here: 'c[].d'" },
        { "map keys=a values=c[].d", "[] is not allowed here: 'c[].d'" },
        { "list slots=a values=b", "values= needs keys=: 'app.A'" },
        { "list slots=a null=#b", "CLASS#STATIC is expected: '#b'" },
        { "list slots=a null=b#", "CLASS#STATIC is expected: 'b#'" },
        { "list slots=a nothing=b", "CLASS#STATIC is expected: 'b'" },
        { "list slots=a chain=b", "CLASS#STATIC is expected: 'b'" },
        { "list slots=a unwrap=b", "CLASS#FIELD is expected: 'b'" },
        { "list slots=a unwrap=b#c,#d", "CLASS#FIELD is expected: 'b#c,#d'" },
        { "list slots=a unwrap=a#b,a#b,a#b,a#b,a#b", "four classes at most: 'a#b,a#b,a#b,a#b,a#b'" },
        { "set of=a take=", "keys or values is expected: ''" },
        { "set of=a take=key", "keys or values is expected: 'key'" },
        { "set slots=a free=", "key, value or none is expected: ''" },
        { "set slots=a free=all", "key, value or none is expected: 'all'" },
        { "map buckets=a next=n", "key= or value= of the nodes is expected: 'app.A'" },
        { "map root=a left=l right=r", "key= or value= of the nodes is expected: 'app.A'" },
        { "map root=a key=k right=r", "left= and right= are expected: 'app.A'" },
        { "map root=a key=k left=l", "left= and right= are expected: 'app.A'" },
        { "list first=a value=v", "next= is expected: 'app.A'" },
        { "map buckets=a value=v", "next= is expected: 'app.A'" },
        { "map fields=a", "fields of a map must be pairs of key and value: 'app.A'" },
        { "list fields=a", "" },
        { "map fields=a,b", "" },
        { "list hidden", "neither a size nor elements: 'app.A'" },
        { "list unknown", "" },
        { "list size=n unknown", "layout 'unknown' excludes a size and elements: 'app.A'" },
        { "list slots=n unknown", "layout 'unknown' excludes a size and elements: 'app.A'" },
        { "list size", "a word such as size=size is expected: 'size'" },
        { "list =n", "unknown word: '=n'" },
        { "list sizes=n", "unknown word: 'sizes=n'" },
    };
    for (size_t i = 0; i < HDX_COUNT(all); i++) {
        char line[200], says[200];
        (void)snprintf(line, sizeof line, "app.A %s\n", all[i].words);
        (void)snprintf(says, sizeof says, "%s%s", *all[i].says == '\0' ? "" : "line 1: ", all[i].says);
        expect_said(line, says);
    }
}

Test(lines, that_are_wrong_are_counted_and_cut)
{
    char line[400] = "app.A list size=n\n\n# three\napp.A list ", says[200] = "line 4: unknown word: '";
    expect_said("\napp.A\n", "line 2: list, map, set or queue is expected: ''");
    memset(line + strlen(line), 'x', 120);
    strcat(line, "=");
    memset(says + strlen(says), 'x', 100);
    strcat(says, "'");
    expect_said(line, says);
}

/* ---- limits ---- */

static char *repeated(const char *format, unsigned count)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    for (unsigned i = 0; i < count; i++)
        hdx_buffer_format(&b, format, i, i, i, i, i, i, i, i, i, i);
    return b.at;
}

Test(limits, are_ten_thousand_lines)
{
    char *fits = repeated("a%u list size=1\n", 10000), *too_many = repeated("a%u list size=1\n", 10001);
    expect_said(fits, "");
    expect_said(too_many, "line 10001: 10000 lines at most: 'a10000'");
    free(fits);
    free(too_many);
}

/* Ours are read behind those of the user, who has them all the same. */
Test(limits, are_those_of_the_table_of_the_user_alone)
{
    char *lines = repeated("a%u list size=1\n", 10000), *names = repeated("a list slots=a%u,b%u,c%u,d%u,e%u\n", 6000);
    hdx_layouts l;
    hdx_error   err;
    cr_expect(read_text(&l, NULL, lines, &err) == HDX_OK && hdx_layouts_known(&l, &err) == HDX_OK, "%s", err.message);
    cr_expect(l.lines.count > 10000);
    hdx_layouts_free(&l);
    cr_expect(read_text(&l, NULL, names, &err) == HDX_OK && hdx_layouts_known(&l, &err) == HDX_OK, "%s", err.message);
    cr_expect(l.names.count > 30000 && l.names.count < HDX_STEP_EACH);
    hdx_layouts_free(&l);
    free(lines);
    free(names);
}

#define TEN_NAMES "a list slots=a%u,b%u,c%u,d%u,e%u,f%u,g%u,h%u,i%u,j%u\n"

Test(limits, are_thirty_thousand_names)
{
    char *fits = repeated(TEN_NAMES, 3000), *too_many = calloc(1, strlen(fits) + 100);
    expect_said(fits, "");
    (void)sprintf(too_many, "%sb list size=a0+j2999\n", fits); /* known ones */
    expect_said(too_many, "");
    (void)sprintf(too_many, "%sb list size=a0+z\n", fits);
    expect_said(too_many, "line 3001: too many field names: 'z'");
    free(fits);
    free(too_many);
}

static hdx_code open_file(const char *path, size_t size, hdx_mem *mem, hdx_layouts *l, hdx_error *err)
{
    char *text = malloc(size + 1);
    memset(text, '\n', size);
    memcpy(text, "app.A list size=1", 17);
    FILE *f = fopen(path, "wb");
    cr_assert(f != NULL && fwrite(text, 1, size, f) == size && fclose(f) == 0);
    free(text);
    *err = (hdx_error){ .code = HDX_OK };
    return hdx_layouts_open(l, path, NULL, mem, err);
}

Test(limits, are_a_mebibyte)
{
    char        folder[TEST_FOLDER], path[300];
    hdx_layouts l;
    hdx_error   err;
    hdx_mem     mem = { .limit = 0 };
    test_folder_make(folder, "layouts");
    (void)snprintf(path, sizeof path, "%s/lines", folder);
    cr_expect(eq(int, open_file(path, 1u << 20, &mem, &l, &err), HDX_OK), "%s", err.message);
    cr_expect(l.lines.count > 100 && hdx_text_is(l.lines.at[0].class_name, "app.A"));
    hdx_layouts_free(&l);
    cr_expect(eq(u64, atomic_load(&mem.used), 0));
    cr_expect(eq(int, open_file(path, (1u << 20) + 1, &mem, &l, &err), HDX_USAGE));
    cr_expect(eq(str, err.message, (char *)"is larger than 1 MiB"));
    cr_expect(eq(str, err.where, path));
    hdx_layouts_free(&l);
    char *text = calloc(1, (1u << 20) + 2);
    memset(text, '\n', 1u << 20);
    expect_said(text, "");
    text[1u << 20] = '\n';
    expect_said(text, "a table of layouts has 1 MiB at most");
    free(text);
    cr_expect(eq(u64, atomic_load(&mem.used), 0));
    cr_expect(eq(int, hdx_layouts_open(&l, NULL, NULL, NULL, &err), HDX_OK), "ours alone");
    cr_expect(gt(u64, l.lines.count, 100));
    hdx_layouts_free(&l);
    test_folder_remove(folder);
}

/* ---- which line holds ---- */

Test(lines, hold_for_classes_that_have_their_fields_the_first_of_several)
{
    static const char        text[] = "app.Two   list size=gone\n"
                                      "app.Two   set  size=a\n"
                                      "app.Two   map  size=b\n"
                                      "app.O*    set  size=a\n"
                                      "app.One   list size=a\n"
                                      "app.Base  queue size=n\n"
                                      "app.Mid   list size=gone\n"
                                      "app.Leaf* list size=b\n"
                                      "app.Lost  list slots=gone\n"
                                      "app.From  list slots=a from=gone\n"
                                      "app.To    list slots=a to=gone\n"
                                      "app.Bits  list slots=a bits=gone\n"
                                      "app.Last  set  sparse=a last=gone\n"
                                      "app.Value map  keys=a values=gone\n"
                                      "app.Node  list first=a next=gone value=gone\n"
                                      "app.Itself list first=this next=a value=b\n"
                                      "app.Guess list unknown\n"
                                      "app.Under list size=gone\n"
                                      "app.Also  list slots=a,gone\n";
    heap                     h;
    dump_maker              *m = dump_maker_new(8);
    hdx_layouts              l;
    hdx_ask                  ask;
    hdx_bound_layouts        bound;
    hdx_buffer               b = hdx_buffer_of(NULL);
    uint32_t                 count;
    const uint64_t           object = dump_maker_class(m, "java.lang.Object", 0, "");
    static const char *const names[] = { "Two",  "One",  "Other", "Lost", "From",   "To",
                                         "Bits", "Last", "Value", "Node", "Itself", "Also" };
    for (unsigned i = 0; i < HDX_COUNT(names); i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "app.%s", names[i]);
        (void)dump_maker_class(m, name, object, "a:I b:I");
    }
    const uint64_t base = dump_maker_class(m, "app.Base", object, "n:I a:J");
    const uint64_t mid = dump_maker_class(m, "app.Mid", base, "b:B r:L");
    (void)dump_maker_class(m, "app.Leaf", mid, "b:S");
    (void)dump_maker_class(m, "app.Low", mid, "c:C d:D");
    const uint64_t guess = dump_maker_class(m, "app.Guess", object, "x:I");
    (void)dump_maker_class(m, "app.Under", guess, "y:I");
    (void)dump_maker_class(m, "app.Below", guess, "y:I");
    (void)dump_maker_class(m, "app.Ones[]", object, "");
    heap_open(&h, m);
    ok(read_text(&l, NULL, text, &h.err));
    ok(hdx_ask_begin(&h.q, &ask, &h.err));
    ok(hdx_layouts_bind(&l, &ask, &bound, &h.err));
    const hdx_class *classes = hdx_graph_classes(h.g, &count);
    for (uint32_t i = 0; i < count; i++) {
        const hdx_layout_of_class *of = &bound.of[i];
        if (of->layout == NULL)
            continue;
        const hdx_class *c = of->class == HDX_NO_CLASS ? NULL : &classes[of->class];
        hdx_buffer_format(&b, "%.*s: line %llu as %.*s, after %llu bytes\n", (int)classes[i].name.len,
                          classes[i].name.at, (unsigned long long)(of->layout - l.lines.at) + 1,
                          c == NULL ? 4 : (int)c->name.len, c == NULL ? "none" : c->name.at,
                          (unsigned long long)of->skip);
    }
    cr_expect(eq(str, b.at,
                 (char *)"app.Two: line 2 as app.Two, after 0 bytes\n"
                         "app.One: line 4 as app.One, after 0 bytes\n"
                         "app.Other: line 4 as app.Other, after 0 bytes\n"
                         "app.Lost: line 9 as none, after 0 bytes\n"
                         "app.From: line 10 as none, after 0 bytes\n"
                         "app.To: line 11 as none, after 0 bytes\n"
                         "app.Bits: line 12 as none, after 0 bytes\n"
                         "app.Last: line 13 as none, after 0 bytes\n"
                         "app.Value: line 14 as none, after 0 bytes\n"
                         "app.Node: line 15 as app.Node, after 0 bytes\n"
                         "app.Itself: line 16 as app.Itself, after 0 bytes\n"
                         "app.Also: line 19 as none, after 0 bytes\n"
                         "app.Base: line 6 as app.Base, after 0 bytes\n"
                         "app.Mid: line 6 as app.Base, after 9 bytes\n"
                         "app.Leaf: line 8 as app.Leaf, after 0 bytes\n"
                         "app.Low: line 6 as app.Base, after 19 bytes\n"
                         "app.Guess: line 17 as app.Guess, after 0 bytes\n"
                         "app.Under: line 18 as none, after 0 bytes\n"
                         "app.Below: line 17 as app.Guess, after 4 bytes\n"));
    hdx_buffer_free(&b);
    hdx_layouts_unbind(&bound);
    hdx_layouts_free(&l);
    heap_close(&h);
}
