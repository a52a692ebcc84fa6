#include "probe_shim.h"

#include <errno.h>
#include <libavutil/error.h>
#include <libavutil/log.h>
#include <libavutil/mem.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
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

struct memory {
    const uint8_t *parts[2];
    int64_t sizes[2];
    int64_t position;
};

static int64_t total(const struct memory *memory) { return memory->sizes[0] + memory->sizes[1]; }

static int read_memory(void *opaque, uint8_t *buffer, int size) {
    struct memory *memory = opaque;
    int copied = 0;
    while (copied < size && memory->position < total(memory)) {
        int part = memory->position < memory->sizes[0] ? 0 : 1;
        int64_t offset = memory->position - (part ? memory->sizes[0] : 0);
        int64_t count = memory->sizes[part] - offset;
        if (count > size - copied) count = size - copied;
        memcpy(buffer + copied, memory->parts[part] + offset, (size_t)count);
        memory->position += count;
        copied += (int)count;
    }
    return copied > 0 ? copied : AVERROR_EOF;
}

static int64_t seek_memory(void *opaque, int64_t offset, int whence) {
    struct memory *memory = opaque;
    int64_t base = 0;
    switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE: return total(memory);
    case SEEK_SET: break;
    case SEEK_CUR: base = memory->position; break;
    case SEEK_END: base = total(memory); break;
    default: return AVERROR(EINVAL);
    }
    if (offset < -base || offset > total(memory) - base) return AVERROR(EINVAL);
    return memory->position = base + offset;
}

AVIOContext *probe_memory_open(const uint8_t *first, size_t first_size, const uint8_t *second, size_t second_size) {
    const int buffer_size = 16 << 10;
    struct memory *memory = calloc(1, sizeof(struct memory));
    uint8_t *buffer = av_malloc(buffer_size);
    AVIOContext *input = NULL;
    if (memory != NULL && buffer != NULL) {
        *memory = (struct memory){{first, second}, {(int64_t)first_size, (int64_t)second_size}, 0};
        input = avio_alloc_context(buffer, buffer_size, 0, memory, read_memory, NULL, seek_memory);
    }
    if (input == NULL) {
        av_free(buffer);
        free(memory);
    }
    return input;
}

void probe_memory_close(AVIOContext **input) {
    if (*input == NULL) return;
    free((*input)->opaque);
    // libav may have taken another buffer meanwhile.
    av_freep(&(*input)->buffer);
    avio_context_free(input);
}

static void initialize(void) {
    av_log_set_level(AV_LOG_QUIET);
    avformat_network_init();
}

void probe_initialize(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialize);
}

void probe_error_text(int code, char *buffer, size_t size) { av_strerror(code, buffer, size); }

// Compared sixteen at a time; the compiler has instructions for that on every processor of today.
typedef uint8_t Block __attribute__((vector_size(16)));
typedef uint64_t Halves __attribute__((vector_size(16)));

static bool begins_start_code(const uint8_t *bytes) { return bytes[0] == 0 && bytes[1] == 0 && bytes[2] == 1; }

size_t probe_start_code_end(const uint8_t *bytes, size_t offset, size_t count) {
    // Two zeros in a row are rare in compressed media.
    for (; offset + sizeof(Block) + 2 <= count; offset += sizeof(Block)) {
        Block first, second;
        memcpy(&first, bytes + offset, sizeof first);
        memcpy(&second, bytes + offset + 1, sizeof second);
        Halves zeros = (Halves)((first | second) == 0);
        if ((zeros[0] | zeros[1]) == 0) continue;
        for (size_t i = offset; i < offset + sizeof(Block); i++) {
            if (begins_start_code(bytes + i)) return i + 3;
        }
    }
    for (; offset + 3 <= count; offset++) {
        if (begins_start_code(bytes + offset)) return offset + 3;
    }
    return 0;
}
