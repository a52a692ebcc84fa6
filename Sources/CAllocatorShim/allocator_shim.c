#include "allocator_shim.h"

#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

void allocator_limit_heaps(int count) {
#ifdef __GLIBC__
    (void)mallopt(M_ARENA_MAX, count);
#else
    (void)count;
#endif
}
