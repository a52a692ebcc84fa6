#ifndef INSTRUMENT_VLC_SHIM_H
#define INSTRUMENT_VLC_SHIM_H

#ifdef __linux__
#include <vlc/vlc.h>

/// Receives a message of libVLC's log, on the thread that logs it. The text and the module are valid during the call; the
/// module may be null.
typedef void (*VLCShimMessage)(void *context, int level, const char *module, const char *text);

/// A handler of the log of an instance, because Swift cannot format C's variable arguments in a callback.
typedef struct VLCShimLog VLCShimLog;

/// Becomes the only handler of the instance's log, and keeps the instance; null without memory. Messages below `level`
/// are not formatted.
VLCShimLog *vlc_shim_log_begin(libvlc_instance_t *instance, int level, VLCShimMessage message, void *context);

/// Ends the handler; waits for calls that run, so it must not be called from the handler.
void vlc_shim_log_end(VLCShimLog *log);

#endif

#endif
