/* width.h - for files that are compiled twice: with HDX_WIDTH 32 and 64 (rooms.cmake says which files are). */
#ifndef HDX_ALGO_WIDTH_H
#define HDX_ALGO_WIDTH_H

#include "algo/algo.h"

#if HDX_WIDTH == 64
#define NID        uint64_t
#define NONE       UINT64_MAX
#define WIDE(name) name##_64
#else
#define NID        uint32_t
#define NONE       UINT32_MAX
#define WIDE(name) name##_32
#endif

#endif
