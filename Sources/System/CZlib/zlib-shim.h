// zlib, and the initialisers that Swift cannot see because they are macros.
#ifndef INSTRUMENT_ZLIB_SHIM_H
#define INSTRUMENT_ZLIB_SHIM_H

#include <zlib.h>

/// Window bits of 15 + 16: the gzip format (RFC 1952).
static inline int zlib_begin_gzip(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

static inline int zlib_begin_gunzip(z_stream *stream) { return inflateInit2(stream, 15 + 16); }

/// Window bits of 15: the zlib format (RFC 1950).
static inline int zlib_begin_inflate(z_stream *stream) { return inflateInit2(stream, 15); }

#endif
