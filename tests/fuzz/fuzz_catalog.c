/*
 * fuzz_catalog.c - values, sums and pages of a catalog as somebody else wrote them.
 *
 * The first byte chooses the decoder, the rest is its input. Whatever is accepted as a class, thread, heap or root is
 * written again and must decode to the same bytes: nothing of a value is ignored.
 */
#include "catalog/values.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OBJECTS 1000u

static hdx_text        names[3] = { { "", 0 }, { "a", 1 }, { "bc", 2 } };
static const hdx_texts texts = { names, 3 };

static uint32_t number_of(hdx_text t) { return t.len; } /* as `names` is made */

static void must(bool yes)
{
    if (!yes)
        abort();
}

/* A second round must give what the first gave. */
static void same_again(hdx_buffer *first, hdx_buffer *second)
{
    must(!first->failed && !second->failed && first->len == second->len &&
         memcmp(first->at, second->at, first->len) == 0);
    hdx_buffer_free(first);
    hdx_buffer_free(second);
}

static void encode_class(hdx_buffer *to, const hdx_class *c)
{
    uint32_t *numbers = calloc(1 + (size_t)c->field_count + c->static_count, sizeof *numbers), n = 0;
    must(numbers != NULL);
    numbers[n++] = number_of(c->name);
    for (uint32_t i = 0; i < c->field_count; i++)
        numbers[n++] = number_of(c->fields[i].name);
    for (uint32_t i = 0; i < c->static_count; i++)
        numbers[n++] = number_of(c->statics[i].name);
    hdx_encode_class(to, c, numbers);
    free(numbers);
}

static void try_class(hdx_view value)
{
    hdx_arena   arena = hdx_arena_of(NULL);
    hdx_buffer  first = hdx_buffer_of(NULL), second = hdx_buffer_of(NULL);
    hdx_numbers all = { .classes = 10 };
    hdx_class   c;
    if (hdx_decode_class(value, 3, &all, OBJECTS, texts, &arena, &c, NULL) == HDX_OK) {
        must(c.id == HDX_NO_ID || c.id < OBJECTS);
        encode_class(&first, &c);
        must(hdx_decode_class((hdx_view){ (const uint8_t *)first.at, first.len }, 3, &all, OBJECTS, texts, &arena, &c,
                              NULL) == HDX_OK);
        encode_class(&second, &c);
        same_again(&first, &second);
    }
    hdx_arena_free(&arena);
}

static void encode_thread(hdx_buffer *to, const hdx_thread *t)
{
    uint32_t *numbers = calloc(1 + 4 * (size_t)t->frame_count, sizeof *numbers), n = 0;
    must(numbers != NULL);
    for (uint32_t i = 0; i < t->frame_count; i++) {
        numbers[n++] = number_of(t->frames[i].class_name);
        numbers[n++] = number_of(t->frames[i].method);
        numbers[n++] = number_of(t->frames[i].signature);
        numbers[n++] = number_of(t->frames[i].source);
    }
    hdx_buffer frames = hdx_buffer_of(NULL);
    hdx_encode_frames(&frames, t, numbers);
    hdx_encode_thread(to, t, (hdx_view){ (const uint8_t *)frames.at, frames.len });
    hdx_buffer_free(&frames);
    free(numbers);
}

static void try_thread(hdx_view value)
{
    hdx_arena  arena = hdx_arena_of(NULL);
    hdx_buffer first = hdx_buffer_of(NULL), second = hdx_buffer_of(NULL);
    hdx_thread t;
    if (hdx_decode_thread(value, 0, OBJECTS, texts, &arena, &t, NULL) == HDX_OK) {
        encode_thread(&first, &t);
        must(hdx_decode_thread((hdx_view){ (const uint8_t *)first.at, first.len }, 0, OBJECTS, texts, &arena, &t,
                               NULL) == HDX_OK);
        encode_thread(&second, &t);
        same_again(&first, &second);
    }
    hdx_arena_free(&arena);
}

static void try_roots(hdx_view value)
{
    hdx_root_chunk chunk = hdx_root_chunk_of(value, 17, OBJECTS, NULL);
    hdx_root       r, again;
    hdx_id         last = 17;
    while (hdx_root_chunk_next(&chunk, &r)) {
        hdx_buffer one = hdx_buffer_of(NULL);
        hdx_id     before = last;
        must(r.object < OBJECTS && r.object >= last && (unsigned)r.type < HDX_ROOT_TYPES && r.frame >= -1 &&
             (r.thread == HDX_NO_ID || r.thread < OBJECTS));
        hdx_encode_root(&one, &r, &last);
        hdx_root_chunk back = hdx_root_chunk_of((hdx_view){ (const uint8_t *)one.at, one.len }, before, OBJECTS, NULL);
        must(hdx_root_chunk_next(&back, &again) && again.object == r.object && again.type == r.type &&
             again.thread == r.thread && again.frame == r.frame);
        hdx_buffer_free(&one);
    }
}

static void try_manifest(hdx_view value)
{
    hdx_manifest m, again;
    uint64_t     capacity, again_capacity;
    hdx_buffer   first = hdx_buffer_of(NULL), second = hdx_buffer_of(NULL);
    if (hdx_decode_manifest(value, &m, &capacity, NULL) == HDX_OK) {
        hdx_encode_manifest(&first, &m);
        must(hdx_decode_manifest((hdx_view){ (const uint8_t *)first.at, first.len }, &again, &again_capacity, NULL) ==
             HDX_OK);
        hdx_encode_manifest(&second, &again);
        same_again(&first, &second);
        hdx_mem_put(NULL, again.damage, again_capacity * sizeof *again.damage);
    }
    hdx_mem_put(NULL, m.damage, capacity * sizeof *m.damage);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hdx_heap_space heap;
    hdx_numbers    numbers;
    uint8_t        identity[16];
    uint64_t       sum_size;
    uint32_t       crc;
    if (size == 0)
        return 0;
    hdx_view value = { data + 1, size - 1 };
    switch (data[0] % 8) {
    case 0: try_class(value); break;
    case 1: try_thread(value); break;
    case 2: try_roots(value); break;
    case 3: try_manifest(value); break;
    case 4: (void)hdx_decode_heap(value, 0, texts, &heap, NULL); break;
    case 5: (void)hdx_decode_numbers(value, &numbers, NULL); break;
    case 6: (void)hdx_decode_sum(value, identity, &sum_size, &crc, NULL); break;
    default: (void)hdx_check_pages(value, NULL);
    }
    return 0;
}
