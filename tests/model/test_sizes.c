/*
 * test_sizes.c - shallow sizes against the worked examples of doc/mat.md (MAT 2.3 to 2.6).
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "model/model.h"
#include "support/faulty.h"

static const hdx_sizing compressed = { 8, 4, 8, false, 0 }, wide = { 8, 8, 8, false, 0 },
                        narrow = { 4, 4, 8, false, 0 };

Test(arrays, worked_examples)
{
    cr_expect(eq(u64, hdx_primitive_array_size(&compressed, 5, 60), 136));
    cr_expect(eq(u64, hdx_primitive_array_size(&wide, 5, 60), 144));
    cr_expect(eq(u64, hdx_primitive_array_size(&compressed, 8, 1), 24));
    cr_expect(eq(u64, hdx_primitive_array_size(&wide, 8, 1), 32));
    cr_expect(eq(u64, hdx_primitive_array_size(&narrow, 8, 0), 16));
    cr_expect(eq(u64, hdx_object_array_size(&compressed, 10), 56));
    cr_expect(eq(u64, hdx_object_array_size(&wide, 10), 104));
    cr_expect(eq(u64, hdx_object_array_size(&wide, 0xFFFFFFFF), hdx_round_up(20 + 8 * 0xFFFFFFFFull, 8)));
    cr_expect(eq(u64, hdx_primitive_array_size(&wide, 11, 0xFFFFFFFF), 24 + 8 * 0xFFFFFFFFull));
}

Test(alignment, divisor_of_differences_clamped)
{
    uint64_t d = 0;
    cr_expect(hdx_alignment_feed(&d, 64));
    cr_expect(hdx_alignment_feed(&d, 0));
    cr_expect(hdx_alignment_feed(&d, 48));
    cr_expect(eq(u64, d, 16));
    cr_expect(eq(u32, hdx_alignment_of(d), 16));
    cr_expect(not(hdx_alignment_feed(&d, 8)));
    cr_expect(eq(u32, hdx_alignment_of(d), 8));
    cr_expect(not(hdx_alignment_feed(&d, 1)));
    cr_expect(eq(u32, hdx_alignment_of(d), 8));
    cr_expect(eq(u32, hdx_alignment_of(0), 8));
    cr_expect(eq(u32, hdx_alignment_of(4096), 256));
}

static hdx_field F(uint8_t type) { return (hdx_field){ { "f", 1 }, type }; }

static hdx_class K(uint32_t super, const hdx_field *fields, uint32_t count)
{
    return (hdx_class){
        .super = super, .super_address = super == HDX_NO_CLASS ? 0 : super + 1, .fields = fields, .field_count = count
    };
}

Test(classes, rounding_happens_at_every_level)
{
    /* java.security.BasicPermissionCollection: Object 12, one boolean 13 -> 16, ref + boolean + ref 25 -> 28 -> 32 */
    const hdx_field one[] = { F(4) }, three[] = { F(2), F(4), F(2) }, string6[] = { F(2), F(10), F(10), F(10) };
    hdx_class       classes[4];
    uint32_t        cut[4], cuts;
    for (unsigned run = 0; run < 2; run++) {
        classes[3] = K(HDX_NO_CLASS, NULL, 0);
        classes[1] = K(3, one, 1);
        classes[0] = K(1, three, 3); /* sub-classes may come before their super class */
        classes[2] = K(3, string6, 4);
        cr_assert(hdx_model_cut_cycles(classes, 4, NULL, cut, &cuts));
        cr_expect(eq(u32, cuts, 0));
        cr_assert(hdx_model_sizes(run == 0 ? &compressed : &wide, classes, 4, NULL));
        cr_expect(eq(u64, classes[3].instance_size, 16));
        cr_expect(eq(u64, classes[1].instance_size, run == 0 ? 16 : 24));
        cr_expect(eq(u64, classes[0].instance_size, run == 0 ? 32 : 48));
        cr_expect(eq(u64, classes[2].instance_size, run == 0 ? 32 : 40));
    }
    cr_expect(eq(u64, hdx_class_field_bytes(classes, 0, 8, UINT64_MAX), 8 + 1 + 8 + 1));
    cr_expect(eq(u64, hdx_class_field_bytes(classes, 0, 4, UINT64_MAX), 4 + 1 + 4 + 1));
}

/* Fields of java.lang.Object do not count, but those of a class whose chain was cut do, above the same head. */
Test(classes, without_a_super_class_weigh_their_head)
{
    const hdx_field two[] = { F(11), F(10) };
    for (uint64_t super_address = 0; super_address < 3; super_address++) {
        hdx_class c = K(HDX_NO_CLASS, two, 2);
        c.super_address = super_address;
        cr_assert(hdx_model_sizes(&compressed, &c, 1, NULL));
        cr_expect(eq(u64, c.instance_size, super_address == 0 ? 16 : 24));
        cr_assert(hdx_model_sizes(&wide, &c, 1, NULL));
        cr_expect(eq(u64, c.instance_size, super_address == 0 ? 16 : 32));
    }
}

Test(classes, have_no_more_field_bytes_than_are_asked_for)
{
    const hdx_field two[] = { F(11), F(10) };
    hdx_class       c[2] = { K(HDX_NO_CLASS, two, 2), K(0, two, 2) };
    for (uint64_t most = 0; most < 30; most++)
        cr_expect(eq(u64, hdx_class_field_bytes(c, 1, 8, most), most < 24 ? most : 24));
    cr_expect(eq(u64, hdx_class_field_bytes(c, 0, 8, 100), 12));
    cr_expect(eq(u64, hdx_class_field_bytes(c, HDX_NO_CLASS, 8, 100), 0));
}

Test(classes, objects_of_classes_weigh_their_statics)
{
    const hdx_field six[] = { F(2), F(2), F(2), F(2), F(2), F(2) };
    hdx_class       c = K(HDX_NO_CLASS, NULL, 0);
    c.statics = six;
    c.static_count = 6;
    cr_assert(hdx_model_sizes(&compressed, &c, 1, NULL));
    cr_expect(eq(u64, c.class_shallow, 24));
    c.static_count = 0;
    cr_assert(hdx_model_sizes(&compressed, &c, 1, NULL));
    cr_expect(eq(u64, c.class_shallow, 0));
}

Test(classes, android_states_its_sizes_and_array_classes_give_the_reference_size)
{
    const hdx_sizing stated = { 4, 4, 8, true, 0 };
    hdx_class        c[3] = { K(HDX_NO_CLASS, NULL, 0), K(0, NULL, 0), K(0, NULL, 0) };
    c[0].stated_size = 21;
    c[1].kind = HDX_PRIMITIVE_ARRAY;
    c[1].stated_size = 12;
    c[2].flags = HDX_CLASS_INVENTED;
    cr_assert(hdx_model_sizes(&stated, c, 3, NULL));
    cr_expect(eq(u64, c[0].instance_size, 21));
    cr_expect(eq(u64, c[1].instance_size, 4));
    cr_expect(eq(u64, c[2].instance_size, 8));
}

Test(cycles, are_cut_where_they_repeat)
{
    const hdx_field one[] = { F(11) };
    uint32_t        cut[8], cuts, own;
    /* 0 <- 1 itself; 2 -> 3 -> 4 -> 2; 5 hangs on the cycle; 6 is its own super */
    hdx_class c[7] = {
        K(HDX_NO_CLASS, NULL, 0), K(0, one, 1), K(3, one, 1), K(4, one, 1), K(2, one, 1), K(3, one, 1), K(6, one, 1)
    };
    cr_assert(hdx_model_own_ancestor(c, 7, NULL, &own));
    cr_expect(eq(u32, own, 2), "the first of the cycle that a climb from 2 meets again");
    cr_assert(hdx_model_cut_cycles(c, 7, NULL, cut, &cuts));
    cr_assert(hdx_model_own_ancestor(c, 7, NULL, &own));
    cr_expect(eq(u32, own, HDX_NO_CLASS));
    cr_assert(hdx_model_sizes(&wide, c, 7, NULL));
    cr_assert(eq(u32, cuts, 2));
    cr_expect(eq(u32, cut[0], 4));
    cr_expect(eq(u32, cut[1], 6));
    cr_expect(eq(u32, c[4].super, HDX_NO_CLASS));
    cr_expect(eq(u32, c[2].super, 3));
    cr_expect(eq(u64, c[1].instance_size, 24));
    cr_expect(eq(u64, c[4].instance_size, 24));
    cr_expect(eq(u64, c[3].instance_size, 32));
    cr_expect(eq(u64, c[2].instance_size, 40));
    cr_expect(eq(u64, c[5].instance_size, 40));
    cr_expect(eq(u64, c[6].instance_size, 24));
}

Test(cycles, random_graphs_end_without_a_cycle)
{
    uint64_t x = 7;
    for (unsigned round = 0; round < 2000; round++) {
        enum { N = 12 };
        hdx_class c[N];
        uint32_t  cut[N], cuts, own;
        for (unsigned k = 0; k < N; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            const uint32_t super = (uint32_t)(x >> 40) % (N + 2);
            c[k] = K(super >= N ? HDX_NO_CLASS : super, NULL, 0);
        }
        cr_assert(hdx_model_own_ancestor(c, N, NULL, &own));
        if (own != HDX_NO_CLASS) {
            uint32_t at = c[own].super;
            for (unsigned steps = 0; at != own && steps < N; steps++)
                at = c[at].super;
            cr_expect(eq(u32, at, own), "seed %u", round);
        }
        cr_assert(hdx_model_cut_cycles(c, N, NULL, cut, &cuts));
        cr_expect(eq(int, own != HDX_NO_CLASS, cuts > 0), "seed %u", round);
        for (unsigned k = 0; k < N; k++) {
            unsigned steps = 0;
            for (uint32_t at = k; at != HDX_NO_CLASS && steps <= N; at = c[at].super)
                steps++;
            cr_expect(le(u32, steps, N), "seed %u", round);
        }
    }
}

Test(chains, three_hundred_thousand_super_classes_need_no_stack)
{
    enum { N = 300000 };
    hdx_class      *c = calloc(N, sizeof *c);
    uint32_t       *cut = calloc(N, sizeof *cut), cuts;
    const hdx_field one[] = { F(10) };
    for (uint32_t k = 0; k < N; k++)
        c[k] = K(k + 1 == N ? HDX_NO_CLASS : k + 1, one, k % 100 == 0);
    cr_assert(hdx_model_cut_cycles(c, N, NULL, cut, &cuts));
    cr_assert(hdx_model_sizes(&compressed, c, N, NULL));
    cr_expect(eq(u32, cuts, 0));
    cr_expect(eq(u64, c[0].instance_size, hdx_round_up(12 + 4 * (N / 100), 8)));
    free(c);
    free(cut);
}

Test(faults, refused_memory_is_said_and_given_back)
{
    hdx_class c = K(HDX_NO_CLASS, NULL, 0);
    uint32_t  cut[1], cuts;
    for (unsigned n = 1; n <= 3; n++) {
        hdx_mem    mem = { 0 };
        faulty_mem f;
        faulty_mem_init(&f, &mem, n);
        cr_expect(not(hdx_model_sizes(&wide, &c, 1, &mem)));
        cr_expect(eq(u64, mem.used, 0));
    }
    hdx_mem    mem = { 0 };
    faulty_mem f;
    faulty_mem_init(&f, &mem, 1);
    cr_expect(not(hdx_model_cut_cycles(&c, 1, &mem, cut, &cuts)));
    cr_expect(eq(u64, mem.used, 0));
}
