/*
 * width.h - NID, an id of the current width; NONE, which is not an id; WIDE(name), the name for that width. The width
 * is HDX_WIDTH, 32 or 64: files named *_wide.c are compiled once with each (house.cmake).
 *
 * No include guard: a file that needs both widths sets HDX_WIDTH twice and includes this twice (tests/algo).
 */
#undef NID
#undef NONE
#undef WIDE

#if HDX_WIDTH == 64
#define NID        uint64_t
#define NONE       UINT64_MAX
#define WIDE(name) name##_64
#elif HDX_WIDTH == 32
#define NID        uint32_t
#define NONE       UINT32_MAX
#define WIDE(name) name##_32
#else
#error "HDX_WIDTH is the width of an id, 32 or 64"
#endif
