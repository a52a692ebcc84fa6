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

void allocator_give_back(void) {
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}
