#ifndef INSTRUMENT_DURABLE_SHIM_H
#define INSTRUMENT_DURABLE_SHIM_H

#include <stddef.h>
#include <stdint.h>

/// Stores after everything that the program stored before, so that whoever sees the value sees that, too. What a process
/// has stored in a shared mapping outlives it in this order.
void durable_store_release(void *address, uint32_t value);

/// Loads before everything that the program loads afterwards.
uint32_t durable_load_acquire(const void *address);

/// Copies from the first byte to the last, in this order: if the process ends within the copy, what was copied is a prefix.
/// `memcpy` makes no such promise; the C library may store the first bytes last.
void durable_copy_forward(void *target, const void *source, size_t count);

/// Stores the first byte of each page of `size` bytes again, so that the system writes the page to its file once more.
/// No other thread may change these bytes.
void durable_mark_dirty(void *pages, size_t size);

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4), continued from `crc`; 0 begins.
uint32_t durable_crc32c(uint32_t crc, const void *bytes, size_t count);

/// The CRC-32C of bytes followed by `count` zero bytes, less that of the zeros: what `crc` becomes by being moved. Takes
/// time that grows with the logarithm of `count`.
uint32_t durable_crc32c_shift(uint32_t crc, uint64_t count);

/// Allocates a file's blocks; 0 or an errno.
int durable_allocate(int descriptor, int64_t size);

/// The number by which the system knows the calling thread; never 0.
int32_t durable_thread_id(void);

#endif
