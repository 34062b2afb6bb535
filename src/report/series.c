/*
 * series.c - a list of numbers as a small line, for tables of growth.
 *
 * Everything is an attribute of the picture and the line has the colour of the text, so that no style sheet is needed.
 */
#include "report/page.h"

#define WIDTH  60u
#define HEIGHT 20u
#define MARGIN 2u /* half of the line must not be cut off at the edges */

static uint64_t value_at(const hdx_cell *list, uint64_t i)
{
    const hdx_cell *v = &list->as.list.at[i];
    return v->kind == HDX_CELL_UINT ? v->as.natural : 0;
}

/* Returns the entry that the i-th of `points` points shows. */
static uint64_t entry_of(uint64_t count, uint64_t points, uint64_t i)
{
    return points == count ? i : i * (count - 1) / (points - 1);
}

static void put_values(page *p, const hdx_cell *list, uint64_t points)
{
    for (uint64_t i = 0; i < points; i++)
        hdx_buffer_format(&p->out, "%s%llu", i > 0 ? ", " : "",
                          (unsigned long long)value_at(list, entry_of(list->as.list.count, points, i)));
}

static void put_line(page *p, const hdx_cell *list, uint64_t points, uint64_t least, uint64_t most)
{
    hdx_buffer_format(&p->out, "<svg width=%u height=%u viewBox=\"0 0 %u %u\" role=img><title>", WIDTH, HEIGHT, WIDTH,
                      HEIGHT);
    put_values(p, list, points);
    hdx_buffer_text(&p->out, "</title><polyline fill=none stroke=currentColor stroke-width=1.5 points=\"");
    for (uint64_t i = 0; i < points; i++) {
        const uint64_t v = value_at(list, entry_of(list->as.list.count, points, i));
        const double   x = MARGIN + (double)(WIDTH - 2 * MARGIN) * (double)i / (double)(points > 1 ? points - 1 : 1),
                     share = most > least ? (double)(v - least) / (double)(most - least) : 0.5;
        hdx_buffer_format(&p->out, "%s%.1f,%.1f", i > 0 ? " " : "", x, MARGIN + (1 - share) * (HEIGHT - 2 * MARGIN));
    }
    hdx_buffer_text(&p->out, "\"/></svg>");
}

/* U+2581 to U+2588 are blocks of one to eight eighths of a line. */
static void put_blocks(page *p, const hdx_cell *list, uint64_t points, uint64_t least, uint64_t most)
{
    for (uint64_t i = 0; i < points; i++) {
        const uint64_t v = value_at(list, entry_of(list->as.list.count, points, i));
        const double   share = most > least ? (double)(v - least) / (double)(most - least) : 0.5;
        const char     block[4] = { (char)0xe2, (char)0x96, (char)(0x81 + (int)(share * 7 + 0.5)), '\0' };
        hdx_buffer_text(&p->out, block);
    }
}

void hdx_doc_series(page *p, const hdx_cell *list)
{
    if (list->kind != HDX_CELL_LIST || list->as.list.count == 0) {
        hdx_doc_string(p, "-");
        return;
    }
    const uint64_t count = list->as.list.count, points = count < HDX_SERIES_MOST ? count : HDX_SERIES_MOST;
    uint64_t       least = UINT64_MAX, most = 0;
    for (uint64_t i = 0; i < points; i++) {
        const uint64_t v = value_at(list, entry_of(count, points, i));
        least = v < least ? v : least;
        most = v > most ? v : most;
    }
    (p->options->format == HDX_REPORT_HTML ? put_line : put_blocks)(p, list, points, least, most);
}
