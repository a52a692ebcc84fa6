#ifndef ALLOCATOR_SHIM_H
#define ALLOCATOR_SHIM_H

/// Limits the heaps of the GNU C Library (mallopt(3), `M_ARENA_MAX`). Does nothing with other C libraries.
void allocator_limit_heaps(int count);

/// Gives free memory back to the system (malloc_trim(3)). Does nothing with other C libraries.
void allocator_give_back(void);

#endif
