#ifndef INSTRUMENT_PROBE_SHIM_H
#define INSTRUMENT_PROBE_SHIM_H

#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

/// Tells libav's blocking calls when to give up: because somebody aborted, or because a deadline has passed.
///
/// All functions are safe from any thread; the object has to outlive every context that it is given to.
typedef struct ProbeInterrupt ProbeInterrupt;

ProbeInterrupt *probe_interrupt_create(void);
void probe_interrupt_free(ProbeInterrupt *interrupt);

/// Makes every blocking call give up, now and from now on.
void probe_interrupt_abort(ProbeInterrupt *interrupt);
bool probe_interrupt_is_aborted(const ProbeInterrupt *interrupt);

/// Makes blocking calls give up `nanoseconds` from now; 0 lets them wait for good. Forgets that a deadline had passed.
void probe_interrupt_set_timeout(ProbeInterrupt *interrupt, int64_t nanoseconds);
/// Whether a call gave up because of the deadline.
bool probe_interrupt_timed_out(const ProbeInterrupt *interrupt);

/// The callback for `avio_open2` and contexts; its opaque pointer is the object.
AVIOInterruptCB probe_interrupt_callback(ProbeInterrupt *interrupt);

/// An input of libav's that reads `first`, then `second`, as if they were one file; null without memory.
///
/// The bytes are not copied: they have to stay until `probe_memory_close`.
AVIOContext *probe_memory_open(const uint8_t *first, size_t first_size, const uint8_t *second, size_t second_size);
void probe_memory_close(AVIOContext **input);

/// Prepares libav's networking and silences its log, which would go to standard error; once per process, any thread.
void probe_initialize(void);

/// The offset behind the first start code `00 00 01` that begins at `offset` or later; 0 without one.
size_t probe_start_code_end(const uint8_t *bytes, size_t offset, size_t count);

/// The text of a libav error code, in a buffer of the caller's.
void probe_error_text(int code, char *buffer, size_t size);

#endif
