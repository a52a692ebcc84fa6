// GStreamer 1: elements, messages, sinks.
#ifndef INSTRUMENT_CGSTREAMER_H
#define INSTRUMENT_CGSTREAMER_H

#include <gst/gst.h>
#include <gst/base/gstbasesink.h>

#endif
