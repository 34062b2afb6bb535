/*
 * base.h - the lowest layer: what at least two rooms need and what is independent of heaps.
 *
 *   error.h     one error value, filled once where the number is known
 *   bytes.h     little- and big-endian reads, checked sums, cutting views
 *   crc.h       CRC32C
 *   map.h       a hash map of 64-bit keys, hashing
 *   mem.h       memory accounting: a budget that counts and can refuse
 *   list.h      an array that grows
 *   arena.h     many small blocks that are freed together
 *   io.h        every file call of the project, replaceable by a faulty one in tests
 *   bits.h      bit sets
 *   sort.h      sorting by a number in each element
 *   search.h    binary search
 *   first_error.h  the first error of several workers
 *   inline.h    functions that are inlined into each caller
 *   pattern.h   names by glob or regular expression
 *   owner.h     identifies the process that holds a lock
 *   own.h       names of temporary files, partial builds and locks
 *   workers.h   runs one function on n threads
 *   whole.h     files that exist complete or not at all
 *   text.h      growing text
 *   textfile.h  text files that a user names
 *   tick.h      progress and cancellation from inside loops
 *   regex.h     regular expressions with a bounded cost
 *   flat.h      objects of JSON one level deep
 *
 * No call prints, exits or uses global state.
 */
#ifndef HDX_BASE_BASE_H
#define HDX_BASE_BASE_H

#include "base/arena.h"
#include "base/bits.h"
#include "base/bytes.h"
#include "base/crc.h"
#include "base/error.h"
#include "base/first_error.h"
#include "base/inline.h"
#include "base/io.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/owner.h"
#include "base/pattern.h"
#include "base/regex.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/tick.h"
#include "base/workers.h"

#endif
