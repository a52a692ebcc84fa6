#include "probe_shim.h"

#include <libavutil/error.h>
#include <libavutil/log.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

struct ProbeInterrupt {
    atomic_bool aborted;
    atomic_bool timed_out;
    _Atomic int64_t deadline;
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

ProbeInterrupt *probe_interrupt_create(void) { return calloc(1, sizeof(ProbeInterrupt)); }

void probe_interrupt_free(ProbeInterrupt *interrupt) { free(interrupt); }

void probe_interrupt_abort(ProbeInterrupt *interrupt) { atomic_store(&interrupt->aborted, true); }

bool probe_interrupt_is_aborted(const ProbeInterrupt *interrupt) { return atomic_load(&interrupt->aborted); }

void probe_interrupt_set_timeout(ProbeInterrupt *interrupt, int64_t nanoseconds) {
    atomic_store(&interrupt->timed_out, false);
    atomic_store(&interrupt->deadline, nanoseconds > 0 ? now() + nanoseconds : 0);
}

bool probe_interrupt_timed_out(const ProbeInterrupt *interrupt) { return atomic_load(&interrupt->timed_out); }

static int should_give_up(void *opaque) {
    ProbeInterrupt *interrupt = opaque;
    if (atomic_load(&interrupt->aborted)) return 1;
    int64_t deadline = atomic_load(&interrupt->deadline);
    if (deadline == 0 || now() < deadline) return 0;
    atomic_store(&interrupt->timed_out, true);
    return 1;
}

AVIOInterruptCB probe_interrupt_callback(ProbeInterrupt *interrupt) {
    AVIOInterruptCB callback = {should_give_up, interrupt};
    return callback;
}

static void initialize(void) {
    av_log_set_level(AV_LOG_QUIET);
    avformat_network_init();
}

void probe_initialize(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialize);
}

struct start {
    void (*body)(void *);
    void *context;
};

static void *run(void *opaque) {
    struct start start = *(struct start *)opaque;
    free(opaque);
    start.body(start.context);
    return NULL;
}

bool probe_thread_start(void (*body)(void *), void *context) {
    struct start *start = malloc(sizeof(struct start));
    if (start == NULL) return false;
    *start = (struct start){body, context};
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // Only touched pages cost memory; sanitizers and libav's parsers want more than the least.
    pthread_attr_setstacksize(&attributes, 2 << 20);
    bool is_running = pthread_create(&thread, &attributes, run, start) == 0;
    pthread_attr_destroy(&attributes);
    if (!is_running) free(start);
    return is_running;
}

void probe_error_text(int code, char *buffer, size_t size) { av_strerror(code, buffer, size); }
