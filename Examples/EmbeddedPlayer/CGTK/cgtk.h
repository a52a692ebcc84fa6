// GTK 4 and GStreamer 1.
#include <glib-unix.h>
#include <gst/base/gstbasesink.h>
#include <gst/gst.h>
#include <gtk/gtk.h>
