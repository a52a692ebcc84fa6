#define _GNU_SOURCE
#include "durable_shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#else
#include <pthread.h>
#endif

void durable_store_release(void *address, uint32_t value) {
    __atomic_store_n((uint32_t *)address, value, __ATOMIC_RELEASE);
}

uint32_t durable_load_acquire(const void *address) {
    return __atomic_load_n((const uint32_t *)address, __ATOMIC_ACQUIRE);
}

// Atomic stores of one word each: the compiler may neither reorder them nor make a memcpy of the loop.
void durable_copy_forward(void *target, const void *source, size_t count) {
    uint8_t *to = target;
    const uint8_t *from = source;
    if ((uintptr_t)to % 8 == 0) {
        for (; count >= 8; to += 8, from += 8, count -= 8) {
            uint64_t word;
            memcpy(&word, from, 8);
            __atomic_store_n((uint64_t *)to, word, __ATOMIC_RELEASE);
        }
    }
    for (; count > 0; count--) __atomic_store_n(to++, *from++, __ATOMIC_RELEASE);
}

// Volatile, so that the compiler keeps stores of what is there; in steps of the smallest page.
void durable_mark_dirty(void *pages, size_t size) {
    for (size_t offset = 0; offset < size; offset += 4096) {
        volatile uint8_t *byte = (volatile uint8_t *)pages + offset;
        __atomic_store_n(byte, __atomic_load_n(byte, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    }
}

// The polynomial 0x1EDC6F41, reflected. Tables for eight bytes at a time ("slicing by 8"), made on first use.
static uint32_t tables[8][256];

__attribute__((constructor)) static void make_tables(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) ? 0x82F63B78u : 0);
        tables[0][byte] = crc;
    }
    for (uint32_t byte = 0; byte < 256; byte++)
        for (int table = 1; table < 8; table++)
            tables[table][byte] = tables[0][tables[table - 1][byte] & 255] ^ (tables[table - 1][byte] >> 8);
}

static uint32_t crc_by_tables(uint32_t crc, const uint8_t *bytes, size_t count) {
    while (count >= 8) {
        uint32_t low = crc ^ (bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24);
        crc = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^ tables[4][low >> 24] ^
              tables[3][bytes[4]] ^ tables[2][bytes[5]] ^ tables[1][bytes[6]] ^ tables[0][bytes[7]];
        bytes += 8;
        count -= 8;
    }
    while (count--) crc = tables[0][(crc ^ *bytes++) & 255] ^ (crc >> 8);
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc_by_hardware(uint32_t crc, const uint8_t *bytes, size_t count) {
    uint64_t wide = crc;
    while (count >= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        wide = __builtin_ia32_crc32di(wide, word);
        bytes += 8;
        count -= 8;
    }
    crc = (uint32_t)wide;
    while (count--) crc = __builtin_ia32_crc32qi(crc, *bytes++);
    return crc;
}

static bool has_hardware;
__attribute__((constructor)) static void look_for_hardware(void) {
    __builtin_cpu_init();
    has_hardware = __builtin_cpu_supports("sse4.2");
}
#endif

uint32_t durable_crc32c(uint32_t crc, const void *bytes, size_t count) {
    crc = ~crc;
#if defined(__x86_64__)
    if (has_hardware) return ~crc_by_hardware(crc, bytes, count);
#endif
    return ~crc_by_tables(crc, bytes, count);
}

// Polynomials over GF(2) modulo the CRC's, reflected: bit 31 is x^0. `powers[k]` is x^(8 * 2^k).
static uint32_t powers[64];

static uint32_t multiply(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (uint32_t bit = 1u << 31; a; bit >>= 1) {
        if (a & bit) {
            product ^= b;
            a ^= bit;
        }
        b = (b >> 1) ^ ((b & 1) ? 0x82F63B78u : 0);
    }
    return product;
}

__attribute__((constructor)) static void make_powers(void) {
    uint32_t power = 1u << 23;
    for (int k = 0; k < 64; k++) {
        powers[k] = power;
        power = multiply(power, power);
    }
}

uint32_t durable_crc32c_shift(uint32_t crc, uint64_t count) {
    for (int k = 0; count; k++, count >>= 1)
        if (count & 1) crc = multiply(powers[k], crc);
    return crc;
}

int durable_allocate(int descriptor, int64_t size) {
#if defined(__APPLE__)
    fstore_t store = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, size, 0};
    if (fcntl(descriptor, F_PREALLOCATE, &store) == -1) return errno;
    return ftruncate(descriptor, size) == 0 ? 0 : errno;
#else
    return posix_fallocate(descriptor, 0, size);
#endif
}

int32_t durable_thread_id(void) {
#if defined(__linux__)
    return (int32_t)syscall(SYS_gettid);
#else
    uint64_t number = 0;
    pthread_threadid_np(NULL, &number);
    return (int32_t)number;
#endif
}
