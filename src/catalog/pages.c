/*
 * pages.c - the B-tree of an LMDB 0.9 file, walked once before LMDB maps it.
 *
 * In:  the file as bytes; its checksum was right, so only crafted files fail here.
 * Out: HDX_OK, or HDX_DAMAGED with the position of the page in the file.
 * The layout is that of LMDB 0.9 (mdb.c: MDB_page, MDB_node, MDB_meta, MDB_db), data version 1, little-endian. LMDB
 * checks page numbers against the last page but trusts offsets inside of pages, sizes of values, and calls abort() if a
 * tree is malformed.
 *
 *   page   0 pgno u64 | 8 pad u16 | 10 flags u16 | 12 lower u16, 14 upper u16 (overflow: 12 pages u32) | 16 offsets u16
 *          ... nodes
 *   node   0 lo u16 | 2 hi u16 | 4 flags u16 | 6 key size u16 | 8 key, then value (leaf) ; branch: child = lo | hi <<
 *          16 | flags << 32
 *   meta   page head | 16 magic u32 | 20 version u32 | 24 address u64 | 32 map size u64 | 40 db[free] | 88 db[main] |
 *          136 last page u64 | 144 txn u64
 *   db     0 page size u32 (db[free] only) | 4 flags u16 | 6 depth u16 | 8 branch, leaf, overflow pages, entries u64 x
 *          4 | 40 root u64
 */
#include "catalog/values.h"

#define MAGIC     0xbeefc0deu
#define VERSION   1u
#define PAGE_HEAD 16u
#define NODE_HEAD 8u
#define BRANCH    1u
#define LEAF      2u
#define OVERFLOW  4u
#define META      8u
#define BIG_DATA  1u  /* of a node: the value is on overflow pages */
#define DEEPEST   32u /* CURSOR_STACK */

typedef struct tree {
    hdx_view   file;
    uint64_t   page_size, pages; /* pages: one past the last used */
    uint64_t   root;
    unsigned   depth;
    uint64_t  *seen; /* a bit per page */
    hdx_error *err;
} tree;

static hdx_code bad(const tree *t, uint64_t page, const char *problem)
{
    return hdx_fail(t->err, HDX_DAMAGED, "catalog", page * t->page_size, "page %llu of catalog.mdb: %s",
                    (unsigned long long)page, problem);
}

static const uint8_t *page_at(const tree *t, uint64_t page) { return t->file.at + page * t->page_size; }

/* Reads a meta page; *txn decides which of the two LMDB uses. */
static hdx_code read_meta(tree *t, unsigned which, uint64_t *txn)
{
    const uint8_t *p = page_at(t, which), *db = p + 88;
    if ((hdx_le16(p + 10) & META) == 0 || hdx_le32(p + 16) != MAGIC || hdx_le32(p + 20) != VERSION)
        return bad(t, which, "not a meta page of LMDB 0.9");
    if (hdx_le32(p + 40) != t->page_size)
        return bad(t, which, "page size differs from the previous page");
    if ((hdx_le16(p + 44) & 1) != 0 || hdx_le16(db + 4) != 0)
        return bad(t, which, "a fixed map or unexpected table flags");
    t->depth = hdx_le16(db + 6);
    t->root = hdx_le64(db + 40);
    uint64_t last = hdx_le64(p + 136);
    if (last < 1 || last >= t->file.len / t->page_size)
        return bad(t, which, "the last page is past the end of the file");
    t->pages = last + 1;
    *txn = hdx_le64(p + 144);
    return HDX_OK;
}

static hdx_code mark(const tree *t, uint64_t page, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (!hdx_bits_set(t->seen, page + i))
            return bad(t, page + i, "is used twice");
    return HDX_OK;
}

static hdx_code check_overflow(const tree *t, uint64_t from, uint64_t page, uint64_t size)
{
    if (page < 2 || page >= t->pages)
        return bad(t, from, "a value is on no page");
    const uint8_t *p = page_at(t, page);
    uint64_t       count = hdx_le32(p + 12), need;
    if ((hdx_le16(p + 10) & (BRANCH | LEAF | OVERFLOW | META)) != OVERFLOW || count == 0 || count > t->pages - page)
        return bad(t, page, "a long value has no pages");
    if (!hdx_add(size, PAGE_HEAD, &need) || need > count * t->page_size)
        return bad(t, page, "a value exceeds its pages");
    return mark(t, page, count);
}

/* Checks one node; `child` is set for branches. */
static hdx_code check_node(const tree *t, uint64_t page, unsigned index, bool leaf, uint64_t *child)
{
    const uint8_t *p = page_at(t, page);
    uint64_t       at = hdx_le16(p + PAGE_HEAD + 2 * index), upper = hdx_le16(p + 14);
    if (at < upper || at > t->page_size - NODE_HEAD)
        return bad(t, page, "a node is outside the page");
    const uint8_t *n = p + at;
    uint64_t       left = t->page_size - at - NODE_HEAD, key = hdx_le16(n + 6),
             size = hdx_le16(n) | (uint64_t)hdx_le16(n + 2) << 16;
    unsigned flags = hdx_le16(n + 4);
    if (key > left)
        return bad(t, page, "a key is outside the page");
    if (!leaf) {
        *child = size | (uint64_t)flags << 32;
        return *child >= 2 && *child < t->pages ? HDX_OK : bad(t, page, "a branch leads to no page");
    }
    if ((flags & ~BIG_DATA) != 0)
        return bad(t, page, "several values for one key");
    if ((flags & BIG_DATA) == 0)
        return size <= left - key ? HDX_OK : bad(t, page, "a value is outside the page");
    if (left - key < 8)
        return bad(t, page, "a value is outside the page");
    return check_overflow(t, page, hdx_le64(n + NODE_HEAD + key), size);
}

/* Checks the nodes of a branch or leaf page; `leaf`: which of the two it must be. */
static hdx_code check_page(const tree *t, uint64_t page, bool leaf, unsigned *nodes)
{
    const uint8_t *p = page_at(t, page);
    uint64_t       lower = hdx_le16(p + 12), upper = hdx_le16(p + 14);
    hdx_code       code = mark(t, page, 1);
    if (code != HDX_OK)
        return code;
    if (hdx_le64(p) != page || hdx_le16(p + 10) != (leaf ? LEAF : BRANCH))
        return bad(t, page, leaf ? "no leaf" : "no branch");
    if (lower < PAGE_HEAD || lower % 2 != 0 || lower > upper || upper > t->page_size)
        return bad(t, page, "invalid bounds");
    *nodes = (unsigned)(lower - PAGE_HEAD) / 2;
    if (*nodes < (leaf ? 1u : 2u)) /* LMDB aborts on a branch of one */
        return bad(t, page, "too few nodes");
    uint64_t child;
    for (unsigned i = 0; i < *nodes && code == HDX_OK; i++)
        code = check_node(t, page, i, leaf, &child);
    return code;
}

static hdx_code walk(const tree *t)
{
    struct {
        uint64_t page;
        unsigned next, nodes;
    } stack[DEEPEST];
    unsigned depth = 1;
    hdx_code code;
    if (t->root < 2 || t->root >= t->pages || t->depth == 0 || t->depth > DEEPEST)
        return bad(t, 0, "the table has no root");
    stack[0].page = t->root;
    stack[0].next = 0;
    if ((code = check_page(t, t->root, t->depth == 1, &stack[0].nodes)) != HDX_OK)
        return code;
    while (depth > 0) {
        unsigned top = depth - 1;
        uint64_t child;
        if (depth == t->depth || stack[top].next == stack[top].nodes) { /* a leaf was checked completely */
            depth--;
            continue;
        }
        if ((code = check_node(t, stack[top].page, stack[top].next++, false, &child)) != HDX_OK)
            return code;
        stack[depth].page = child;
        stack[depth].next = 0;
        if ((code = check_page(t, child, depth + 1 == t->depth, &stack[depth].nodes)) != HDX_OK)
            return code;
        depth++;
    }
    return HDX_OK;
}

hdx_code hdx_check_pages(hdx_view file, hdx_error *err)
{
    tree     t = { .file = file, .page_size = 4096, .err = err };
    uint64_t txn[2], words;
    hdx_code code;
    if (file.len < 1024 || hdx_le32(file.at + 16) != MAGIC)
        return bad(&t, 0, "not a meta page of LMDB 0.9");
    t.page_size = hdx_le32(file.at + 40);
    if (t.page_size < 512 || t.page_size > 32768 || (t.page_size & (t.page_size - 1)) != 0 ||
        file.len < 2 * t.page_size)
        return hdx_fail(err, HDX_DAMAGED, "catalog", 40, "invalid page size %llu in a file of %zu bytes",
                        (unsigned long long)t.page_size, file.len);
    if ((code = read_meta(&t, 1, &txn[1])) != HDX_OK)
        return code;
    tree first = t;
    if ((code = read_meta(&first, 0, &txn[0])) != HDX_OK)
        return code;
    if (txn[0] >= txn[1]) /* as mdb_env_pick_meta */
        t = first;
    words = hdx_bits_words(t.pages);
    if ((t.seen = hdx_mem_array(NULL, words, 8)) == NULL)
        return hdx_no_memory(err, "checking the catalog", words * 8);
    code = walk(&t);
    hdx_mem_put(NULL, t.seen, words * 8);
    return code;
}
