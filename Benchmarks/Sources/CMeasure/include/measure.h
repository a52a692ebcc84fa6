#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>

/// Allocations that the calling thread has made; -1 where they cannot be counted.
int64_t measure_allocations(void);

/// Allocations that all threads together have made; -1 where they cannot be counted.
int64_t measure_all_allocations(void);

/// User-space instructions that the calling thread has executed; -1 where the kernel does not count them.
int64_t measure_instructions(void);

#endif
