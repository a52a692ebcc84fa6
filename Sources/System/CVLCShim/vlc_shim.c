// Only Linux has libVLC's headers where package managers look.
#ifdef __linux__
#include "vlc_shim.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct VLCShimLog {
    libvlc_instance_t *instance;
    int level;
    VLCShimMessage message;
    void *context;
};

static void handle(void *data, int level, const libvlc_log_t *context, const char *format, va_list arguments) {
    const VLCShimLog *log = data;
    if (level < log->level) return;
    char text[1024];
    if (vsnprintf(text, sizeof text, format, arguments) < 0) return;
    const char *module = NULL;
    libvlc_log_get_context(context, &module, NULL, NULL);
    log->message(log->context, level, module, text);
}

VLCShimLog *vlc_shim_log_begin(libvlc_instance_t *instance, int level, VLCShimMessage message, void *context) {
    VLCShimLog *log = malloc(sizeof *log);
    if (!log) return NULL;
    libvlc_retain(instance);
    *log = (VLCShimLog){instance, level, message, context};
    libvlc_log_set(instance, handle, log);
    return log;
}

void vlc_shim_log_end(VLCShimLog *log) {
    libvlc_log_unset(log->instance);
    libvlc_release(log->instance);
    free(log);
}
#endif
