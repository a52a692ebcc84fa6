#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>

/// Allocations that the calling thread has made; -1 where they cannot be counted.
int64_t measure_allocations(void);

/// Allocations that all threads together have made; -1 where they cannot be counted.
int64_t measure_all_allocations(void);

/// User-space instructions that the calling thread has executed; -1 where the kernel does not count them.
int64_t measure_instructions(void);

/// What the system did to the calling thread so far.
struct measure_interruptions {
    /// New pages of memory.
    int64_t pages;
    /// Waits, for example for a lock.
    int64_t waits;
    /// Losses of the processor to another thread.
    int64_t preemptions;
};

/// All zero where they cannot be counted.
struct measure_interruptions measure_interruptions(void);

#endif
