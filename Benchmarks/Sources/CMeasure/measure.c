#define _GNU_SOURCE
#include "measure.h"

#ifdef __GLIBC__
#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// The allocator's own entry points; ours, linked into the program, come before the C library's.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Thread_local int64_t mine;
static _Atomic int64_t all;

static void count(void) {
    mine++;
    atomic_fetch_add_explicit(&all, 1, memory_order_relaxed);
}

void *malloc(size_t size) { count(); return __libc_malloc(size); }
void *calloc(size_t n, size_t size) { count(); return __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { count(); return __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) { count(); return __libc_memalign(alignment, size); }
void *memalign(size_t alignment, size_t size) { count(); return __libc_memalign(alignment, size); }
int posix_memalign(void **result, size_t alignment, size_t size) {
    count();
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : ENOMEM;
}

int64_t measure_allocations(void) { return mine; }
int64_t measure_all_allocations(void) { return atomic_load_explicit(&all, memory_order_relaxed); }

static _Thread_local int counter = -2;

int64_t measure_instructions(void) {
    if (counter == -2) {
        struct perf_event_attr attributes;
        memset(&attributes, 0, sizeof attributes);
        attributes.size = sizeof attributes;
        attributes.type = PERF_TYPE_HARDWARE;
        attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
        attributes.exclude_kernel = 1;
        attributes.exclude_hv = 1;
        counter = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    }
    int64_t value;
    if (counter < 0 || read(counter, &value, sizeof value) != sizeof value) return -1;
    return value;
}

struct measure_interruptions measure_interruptions(void) {
    struct rusage usage;
    struct measure_interruptions counts = {0, 0, 0};
    if (getrusage(RUSAGE_THREAD, &usage) == 0) {
        counts.pages = usage.ru_minflt;
        counts.waits = usage.ru_nvcsw;
        counts.preemptions = usage.ru_nivcsw;
    }
    return counts;
}
#else
int64_t measure_allocations(void) { return -1; }
int64_t measure_all_allocations(void) { return -1; }
int64_t measure_instructions(void) { return -1; }
struct measure_interruptions measure_interruptions(void) { return (struct measure_interruptions){0, 0, 0}; }
#endif
