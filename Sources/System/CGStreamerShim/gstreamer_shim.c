// Only Linux has GStreamer's headers where package managers look.
#ifdef __linux__
#include "gstreamer_shim.h"
#include <gst/base/gstbasesink.h>
#include <gst/gst.h>
#include <pthread.h>

struct GstShimElement {
    GWeakRef weak;
};

struct GstShimWatch {
    gint references;
    /// Not one of GLib's, which Thread Sanitizer does not see.
    pthread_mutex_t mutex;
    /// The observed element is compared, not used: `weak` alone reaches it.
    const void *address;
    GWeakRef weak;
    GstBus *bus;
    gulong messages;
    gulong signals[4];
    /// `Sink *`, under the mutex.
    GPtrArray *sinks;
    bool isEnded;
    uint64_t lastSink;
    /// The number of sinks with pictures. While there is one, the buffers of others tell nothing.
    gint pictureCount;
    GstShimHandler handler;
    void *context;
    void (*release)(void *);
};

/// A pad of a sink. Its segment is used on the pad's streaming thread alone.
typedef struct {
    gint references;
    GstShimWatch *watch;
    uint64_t number;
    GstPad *pad;
    gulong probe;
    GstSegment segment;
    /// A `GstShimMedia`, atomic: changed under the mutex, read without it on the streaming thread.
    gint media;
    bool isGone;
} Sink;

static GstShimWatch *retain(GstShimWatch *watch) {
    g_atomic_int_inc(&watch->references);
    return watch;
}

/// The watch of a call of GLib's. The load pairs with the last change of the count before the connection: GLib's own
/// locks order both as well, and Thread Sanitizer does not see these.
static GstShimWatch *watch_of(gpointer data) {
    GstShimWatch *watch = data;
    (void)g_atomic_int_get(&watch->references);
    return watch;
}

static void release_watch(gpointer data) {
    GstShimWatch *watch = data;
    if (!g_atomic_int_dec_and_test(&watch->references)) return;
    watch->release(watch->context);
    g_ptr_array_unref(watch->sinks);
    g_weak_ref_clear(&watch->weak);
    gst_object_unref(watch->bus);
    pthread_mutex_destroy(&watch->mutex);
    g_free(watch);
}

static void release_closure(gpointer data, GClosure *closure) { release_watch(data); }

static void release_sink(gpointer data) {
    Sink *sink = data;
    if (!g_atomic_int_dec_and_test(&sink->references)) return;
    gst_object_unref(sink->pad);
    release_watch(sink->watch);
    g_free(sink);
}

static GstShimMedia media_of_sink(Sink *sink) { return (GstShimMedia)g_atomic_int_get(&sink->media); }

static void report(GstShimWatch *watch, GstShimEvent event) { watch->handler(watch->context, &event); }

// Messages

static int32_t http_status(const GstStructure *details) {
    guint status = 0;
    if (!details || !gst_structure_get_uint(details, "http-status-code", &status)) return 0;
    return (int32_t)MIN(status, G_MAXINT32);
}

static void take_failure(GstShimWatch *watch, GstMessage *message, bool isError) {
    GError *error = NULL;
    gchar *debug = NULL;
    const GstStructure *details = NULL;
    if (isError) {
        gst_message_parse_error(message, &error, &debug);
        gst_message_parse_error_details(message, &details);
    } else {
        gst_message_parse_warning(message, &error, &debug);
        gst_message_parse_warning_details(message, &details);
    }
    report(watch, (GstShimEvent){
        .kind = isError ? GST_SHIM_ERROR : GST_SHIM_WARNING,
        .domain = error ? g_quark_to_string(error->domain) : NULL,
        .code = error ? error->code : 0,
        .text = error ? error->message : NULL,
        .debug = debug,
        .httpStatus = http_status(details),
    });
    g_clear_error(&error);
    g_free(debug);
}

static void take_tags(GstShimWatch *watch, GstMessage *message) {
    GstTagList *tags = NULL;
    gst_message_parse_tag(message, &tags);
    if (!tags) return;
    guint bitrate = 0;
    gchar *language = NULL, *title = NULL;
    if (!gst_tag_list_get_uint(tags, GST_TAG_BITRATE, &bitrate)) {
        gst_tag_list_get_uint(tags, GST_TAG_NOMINAL_BITRATE, &bitrate);
    }
    gst_tag_list_get_string(tags, GST_TAG_TITLE, &title);
    const gboolean isVideo = gst_tag_list_get_tag_size(tags, GST_TAG_VIDEO_CODEC) > 0;
    const gboolean isAudio = gst_tag_list_get_tag_size(tags, GST_TAG_AUDIO_CODEC) > 0;
    if (isAudio) gst_tag_list_get_string(tags, GST_TAG_LANGUAGE_CODE, &language);
    report(watch, (GstShimEvent){
        .kind = GST_SHIM_TAGS,
        .media = isVideo ? GST_SHIM_VIDEO : isAudio ? GST_SHIM_AUDIO : GST_SHIM_OTHER,
        .bitrate = bitrate,
        .language = language,
        .title = title,
    });
    g_free(language);
    g_free(title);
    gst_tag_list_unref(tags);
}

static void take_element_message(GstShimWatch *watch, GstMessage *message) {
    const GstStructure *structure = gst_message_get_structure(message);
    if (!structure || !gst_structure_has_name(structure, "adaptive-streaming-statistics")) return;
    gint bitrate = 0;
    guint wide = 0;
    if (gst_structure_get_uint(structure, "bitrate", &wide)) bitrate = (gint)MIN(wide, G_MAXINT);
    if (bitrate > 0 || gst_structure_get_int(structure, "bitrate", &bitrate)) {
        if (bitrate > 0) report(watch, (GstShimEvent){.kind = GST_SHIM_RENDITION, .bitrate = (uint64_t)bitrate});
    }
}

static void take_dropped(GstShimWatch *watch, GstMessage *message) {
    GstFormat format;
    guint64 processed = 0, dropped = 0;
    gst_message_parse_qos_stats(message, &format, &processed, &dropped);
    if (format != GST_FORMAT_BUFFERS && format != GST_FORMAT_DEFAULT) return;
    if (dropped == G_MAXUINT64) return;
    const uint64_t element = (uint64_t)(uintptr_t)GST_MESSAGE_SRC(message);
    report(watch, (GstShimEvent){.kind = GST_SHIM_DROPPED, .sink = element, .dropped = dropped});
}

/// On the thread that posts the message, beside the app's handler and watch.
static void take_message(GstBus *bus, GstMessage *message, gpointer data) {
    GstShimWatch *watch = watch_of(data);
    const bool isOfRoot = GST_MESSAGE_SRC(message) == watch->address;
    switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_STATE_CHANGED: {
        if (!isOfRoot) return;
        GstState old, new, pending;
        gst_message_parse_state_changed(message, &old, &new, &pending);
        report(watch, (GstShimEvent){
            .kind = GST_SHIM_STATE, .oldState = old, .newState = new, .pendingState = pending,
        });
        return;
    }
    case GST_MESSAGE_STREAM_STATUS: {
        GstStreamStatusType type;
        GstElement *owner;
        gst_message_parse_stream_status(message, &type, &owner);
        if (type == GST_STREAM_STATUS_TYPE_CREATE) report(watch, (GstShimEvent){.kind = GST_SHIM_THREAD});
        return;
    }
    case GST_MESSAGE_STREAM_START: {
        if (!isOfRoot) return;
        guint group = 0;
        gst_message_parse_group_id(message, &group);
        report(watch, (GstShimEvent){.kind = GST_SHIM_STREAM_START, .group = group});
        return;
    }
    case GST_MESSAGE_BUFFERING: {
        gint percent = 0;
        GstBufferingMode mode = GST_BUFFERING_STREAM;
        gst_message_parse_buffering(message, &percent);
        gst_message_parse_buffering_stats(message, &mode, NULL, NULL, NULL);
        report(watch, (GstShimEvent){
            .kind = GST_SHIM_BUFFERING, .percent = percent, .isLive = mode == GST_BUFFERING_LIVE,
        });
        return;
    }
    case GST_MESSAGE_ASYNC_DONE:
        if (isOfRoot) report(watch, (GstShimEvent){.kind = GST_SHIM_ASYNC_DONE});
        return;
    case GST_MESSAGE_EOS:
        if (isOfRoot) report(watch, (GstShimEvent){.kind = GST_SHIM_END});
        return;
    case GST_MESSAGE_SEGMENT_DONE:
        if (isOfRoot) report(watch, (GstShimEvent){.kind = GST_SHIM_SEGMENT_DONE});
        return;
    case GST_MESSAGE_ERROR: return take_failure(watch, message, true);
    case GST_MESSAGE_WARNING: return take_failure(watch, message, false);
    case GST_MESSAGE_TAG: return take_tags(watch, message);
    case GST_MESSAGE_ELEMENT: return take_element_message(watch, message);
    case GST_MESSAGE_QOS: return take_dropped(watch, message);
    default: return;
    }
}

// Sinks

static GstShimMedia media_of(const GstStructure *structure) {
    const gchar *name = gst_structure_get_name(structure);
    if (g_str_has_prefix(name, "video/") || g_str_has_prefix(name, "image/")) return GST_SHIM_VIDEO;
    if (g_str_has_prefix(name, "audio/")) return GST_SHIM_AUDIO;
    const bool isText = g_str_has_prefix(name, "text/") || g_str_has_prefix(name, "subpicture/")
        || g_str_has_prefix(name, "application/x-subtitle") || g_str_has_prefix(name, "closedcaption/");
    return isText ? GST_SHIM_NONE : GST_SHIM_OTHER;
}

/// Under the mutex.
static void set_media(Sink *sink, GstShimMedia media) {
    if (sink->isGone) return;
    const gint before = media_of_sink(sink) == GST_SHIM_VIDEO, after = media == GST_SHIM_VIDEO;
    g_atomic_int_add(&sink->watch->pictureCount, after - before);
    g_atomic_int_set(&sink->media, (gint)media);
}

static void take_caps(Sink *sink, GstCaps *caps) {
    if (!caps || gst_caps_get_size(caps) == 0) return;
    const GstStructure *structure = gst_caps_get_structure(caps, 0);
    pthread_mutex_lock(&sink->watch->mutex);
    set_media(sink, media_of(structure));
    pthread_mutex_unlock(&sink->watch->mutex);
    GstShimEvent event = {.kind = GST_SHIM_CAPS, .sink = sink->number, .media = media_of_sink(sink)};
    gint numerator = 0, denominator = 0;
    gst_structure_get_int(structure, "width", &event.width);
    gst_structure_get_int(structure, "height", &event.height);
    if (gst_structure_get_fraction(structure, "framerate", &numerator, &denominator) && denominator > 0) {
        event.framesPerSecond = (double)numerator / denominator;
    }
    report(sink->watch, event);
}

static void report_segment(Sink *sink, GstEvent *event) {
    const GstSegment *segment;
    gst_event_parse_segment(event, &segment);
    if (segment->format != GST_FORMAT_TIME) return;
    gint64 duration = -1;
    if (!gst_pad_peer_query_duration(sink->pad, GST_FORMAT_TIME, &duration)) duration = -1;
    report(sink->watch, (GstShimEvent){
        .kind = GST_SHIM_SEGMENT, .sink = sink->number, .media = media_of_sink(sink), .rate = segment->rate,
        .duration = duration,
    });
}

static void take_seek(Sink *sink, GstEvent *event) {
    gdouble rate = 1;
    GstFormat format;
    GstSeekFlags flags;
    GstSeekType startType, stopType;
    gint64 start, stop;
    gst_event_parse_seek(event, &rate, &format, &flags, &startType, &start, &stopType, &stop);
    report(sink->watch, (GstShimEvent){
        .kind = GST_SHIM_SEEK, .sink = sink->number, .media = media_of_sink(sink), .rate = rate,
        .isFlushing = (flags & GST_SEEK_FLAG_FLUSH) != 0,
        .position = format == GST_FORMAT_TIME && startType == GST_SEEK_TYPE_SET ? start : -1,
    });
}

/// How long the sink waits from now on until it shows a buffer of this running time.
static int64_t time_ahead(GstElement *element, GstBaseSink *base, guint64 running) {
    if (!GST_CLOCK_TIME_IS_VALID(running) || (base && !gst_base_sink_get_sync(base))) return 0;
    GstClock *clock = gst_element_get_clock(element);
    if (!clock) return 0;
    const GstClockTime now = gst_clock_get_time(clock);
    gst_object_unref(clock);
    const GstClockTime begin = gst_element_get_base_time(element);
    if (!GST_CLOCK_TIME_IS_VALID(now) || !GST_CLOCK_TIME_IS_VALID(begin)) return 0;
    gint64 due = (gint64)(begin + running);
    if (base) {
        const GstClockTime latency = gst_base_sink_get_latency(base);
        if (GST_CLOCK_TIME_IS_VALID(latency)) due += (gint64)latency;
        due += gst_base_sink_get_ts_offset(base) - (gint64)gst_base_sink_get_render_delay(base);
    }
    return due - (gint64)now;
}

/// A sink plays from the begin of the change to PLAYING on, and until the begin of the change to PAUSED.
static bool plays(GstElement *element) {
    const GstState next = GST_STATE_NEXT(element);
    return (next == GST_STATE_VOID_PENDING ? GST_STATE(element) : next) == GST_STATE_PLAYING;
}

static void take_buffer(Sink *sink, GstBuffer *buffer) {
    const GstShimMedia media = media_of_sink(sink);
    if (!buffer || media == GST_SHIM_NONE) return;
    if (media != GST_SHIM_VIDEO && g_atomic_int_get(&sink->watch->pictureCount) > 0) return;
    GstElement *element = gst_pad_get_parent_element(sink->pad);
    if (!element) return;
    GstBaseSink *base = GST_IS_BASE_SINK(element) ? GST_BASE_SINK(element) : NULL;
    GstShimEvent event = {
        .kind = GST_SHIM_BUFFER, .sink = sink->number, .media = media, .position = -1, .duration = -1,
        .rate = sink->segment.rate, .isPreroll = !plays(element),
        .isSynchronized = base && gst_base_sink_get_sync(base),
    };
    if (GST_BUFFER_DURATION_IS_VALID(buffer)) event.duration = (int64_t)GST_BUFFER_DURATION(buffer);
    const GstClockTime time = GST_BUFFER_PTS_IS_VALID(buffer) ? GST_BUFFER_PTS(buffer) : GST_BUFFER_DTS(buffer);
    if (GST_CLOCK_TIME_IS_VALID(time) && sink->segment.format == GST_FORMAT_TIME) {
        const guint64 position = gst_segment_to_stream_time(&sink->segment, GST_FORMAT_TIME, time);
        if (GST_CLOCK_TIME_IS_VALID(position)) event.position = (int64_t)position;
        const guint64 running = gst_segment_to_running_time(&sink->segment, GST_FORMAT_TIME, time);
        if (!event.isPreroll) event.ahead = time_ahead(element, base, running);
    }
    if (base && !event.isPreroll && event.ahead < 0) {
        const gint64 patience = gst_base_sink_get_max_lateness(base);
        event.isDropped = patience >= 0 && -event.ahead > patience + MAX(0, event.duration);
    }
    gst_object_unref(element);
    report(sink->watch, event);
}

static GstPadProbeReturn take_data(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
    Sink *sink = data;
    // As in `watch_of`, of both.
    (void)g_atomic_int_get(&sink->references);
    (void)watch_of(sink->watch);
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
        take_buffer(sink, GST_PAD_PROBE_INFO_BUFFER(info));
    } else if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
        GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST(info);
        if (list && gst_buffer_list_length(list) > 0) take_buffer(sink, gst_buffer_list_get(list, 0));
    } else if (info->type & GST_PAD_PROBE_TYPE_EVENT_BOTH) {
        GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
        GstCaps *caps = NULL;
        switch (GST_EVENT_TYPE(event)) {
        case GST_EVENT_CAPS:
            gst_event_parse_caps(event, &caps);
            take_caps(sink, caps);
            break;
        case GST_EVENT_SEGMENT:
            gst_event_copy_segment(event, &sink->segment);
            report_segment(sink, event);
            break;
        case GST_EVENT_SEEK: take_seek(sink, event); break;
        case GST_EVENT_FLUSH_START:
            report(sink->watch, (GstShimEvent){.kind = GST_SHIM_FLUSH, .sink = sink->number, .media = media_of_sink(sink)});
            break;
        default: break;
        }
    }
    return GST_PAD_PROBE_OK;
}

static void watch_pad(GstShimWatch *watch, GstPad *pad) {
    pthread_mutex_lock(&watch->mutex);
    bool isWanted = !watch->isEnded;
    for (guint index = 0; isWanted && index < watch->sinks->len; index++) {
        isWanted = ((Sink *)g_ptr_array_index(watch->sinks, index))->pad != pad;
    }
    Sink *sink = NULL;
    if (isWanted) {
        sink = g_new0(Sink, 1);
        sink->watch = retain(watch);
        sink->number = ++watch->lastSink;
        sink->pad = gst_object_ref(pad);
        gst_segment_init(&sink->segment, GST_FORMAT_UNDEFINED);
        // What the pad has already, before the first buffer.
        GstEvent *segment = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
        if (segment) gst_event_copy_segment(segment, &sink->segment);
        GstCaps *caps = gst_pad_get_current_caps(pad);
        if (caps && gst_caps_get_size(caps) > 0) set_media(sink, media_of(gst_caps_get_structure(caps, 0)));
        // Joined: what follows is the streaming thread's alone.
        g_ptr_array_add(watch->sinks, sink);
        // The list's and the probe's.
        g_atomic_int_set(&sink->references, 2);
        const GstPadProbeType mask = GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST
            | GST_PAD_PROBE_TYPE_EVENT_BOTH | GST_PAD_PROBE_TYPE_EVENT_FLUSH;
        sink->probe = gst_pad_add_probe(pad, mask, take_data, sink, release_sink);
        g_atomic_int_inc(&sink->references);
        pthread_mutex_unlock(&watch->mutex);
        if (caps) take_caps(sink, caps);
        if (segment) report_segment(sink, segment);
        release_sink(sink);
        if (caps) gst_caps_unref(caps);
        if (segment) gst_event_unref(segment);
        return;
    }
    pthread_mutex_unlock(&watch->mutex);
}

/// The list's reference is the caller's from now on.
static void end_sink(Sink *sink) {
    gst_pad_remove_probe(sink->pad, sink->probe);
    pthread_mutex_lock(&sink->watch->mutex);
    set_media(sink, GST_SHIM_NONE);
    sink->isGone = true;
    pthread_mutex_unlock(&sink->watch->mutex);
    release_sink(sink);
}

static bool is_sink(GstElement *element) {
    return GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK) && !GST_IS_BIN(element);
}

static gboolean watch_sink_pad(GstElement *element, GstPad *pad, gpointer data) {
    watch_pad(data, pad);
    return TRUE;
}

static void take_element(GstBin *bin, GstBin *parent, GstElement *element, gpointer data) {
    if (is_sink(element)) gst_element_foreach_sink_pad(element, watch_sink_pad, watch_of(data));
}

static void take_removal(GstBin *bin, GstBin *parent, GstElement *element, gpointer data) {
    GstShimWatch *watch = watch_of(data);
    if (!is_sink(element)) return;
    GPtrArray *removed = g_ptr_array_new();
    pthread_mutex_lock(&watch->mutex);
    for (guint index = watch->sinks->len; index > 0; index--) {
        Sink *sink = g_ptr_array_index(watch->sinks, index - 1);
        if (GST_PAD_PARENT(sink->pad) != element) continue;
        g_ptr_array_remove_index_fast(watch->sinks, index - 1);
        g_ptr_array_add(removed, sink);
    }
    pthread_mutex_unlock(&watch->mutex);
    for (guint index = 0; index < removed->len; index++) {
        Sink *sink = g_ptr_array_index(removed, index);
        report(watch, (GstShimEvent){.kind = GST_SHIM_SINK_GONE, .sink = sink->number});
        end_sink(sink);
    }
    g_ptr_array_unref(removed);
}

static void take_children(GstShimWatch *watch, GstElement *element) {
    if (!GST_IS_BIN(element)) return take_element(NULL, NULL, element, watch);
    GstIterator *iterator = gst_bin_iterate_recurse(GST_BIN(element));
    GValue item = G_VALUE_INIT;
    for (;;) {
        switch (gst_iterator_next(iterator, &item)) {
        case GST_ITERATOR_OK:
            take_element(NULL, NULL, g_value_get_object(&item), watch);
            g_value_reset(&item);
            continue;
        // Pads that are watched already are not watched again.
        case GST_ITERATOR_RESYNC: gst_iterator_resync(iterator); continue;
        default: break;
        }
        break;
    }
    g_value_unset(&item);
    gst_iterator_free(iterator);
}

// Sound and source

static bool has_property(GstElement *element, const char *name, GType type) {
    const GParamSpec *property = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
    return property && property->value_type == type && (property->flags & G_PARAM_READABLE);
}

static bool has_sound(GstElement *element) {
    return has_property(element, "volume", G_TYPE_DOUBLE) && has_property(element, "mute", G_TYPE_BOOLEAN);
}

static void take_sound(GstElement *element, GParamSpec *property, gpointer data) {
    GstShimWatch *watch = watch_of(data);
    gdouble volume = 0;
    gboolean isMuted = FALSE;
    g_object_get(element, "volume", &volume, "mute", &isMuted, NULL);
    report(watch, (GstShimEvent){.kind = GST_SHIM_SOUND, .volume = volume, .isMuted = isMuted});
}

static char *copy_text(GstElement *element, const char *name) {
    char *text = NULL;
    if (has_property(element, name, G_TYPE_STRING)) g_object_get(element, name, &text, NULL);
    return text;
}

static char *copy_source_of_children(GstBin *bin) {
    GstIterator *iterator = gst_bin_iterate_sources(bin);
    GValue item = G_VALUE_INIT;
    char *text = NULL;
    // A bin that changes meanwhile is asked again with the next stream.
    while (!text && gst_iterator_next(iterator, &item) == GST_ITERATOR_OK) {
        GstElement *source = g_value_get_object(&item);
        if (GST_IS_URI_HANDLER(source)) text = gst_uri_handler_get_uri(GST_URI_HANDLER(source));
        if (!text && GST_IS_BIN(source)) text = copy_text(source, "uri");
        g_value_reset(&item);
    }
    g_value_unset(&item);
    gst_iterator_free(iterator);
    return text;
}

char *gst_shim_element_copy_source(GstShimElement *reference) {
    GstElement *element = g_weak_ref_get(&reference->weak);
    if (!element) return NULL;
    char *text = copy_text(element, "current-uri");
    if (!text) text = copy_text(element, "uri");
    if (!text && GST_IS_URI_HANDLER(element)) text = gst_uri_handler_get_uri(GST_URI_HANDLER(element));
    if (!text && GST_IS_BIN(element)) text = copy_source_of_children(GST_BIN(element));
    gst_object_unref(element);
    return text;
}

void gst_shim_free(char *text) { g_free(text); }

// The element

GstShimElement *gst_shim_element_new(void *address) {
    if (!address || !GST_IS_ELEMENT(address)) return NULL;
    GstShimElement *reference = g_new0(GstShimElement, 1);
    g_weak_ref_init(&reference->weak, address);
    return reference;
}

void gst_shim_element_free(GstShimElement *reference) {
    g_weak_ref_clear(&reference->weak);
    g_free(reference);
}

int32_t gst_shim_element_state(GstShimElement *reference) {
    GstElement *element = g_weak_ref_get(&reference->weak);
    if (!element) return 0;
    const GstState state = GST_STATE(element);
    gst_object_unref(element);
    return state;
}

// The watch

static gulong connect_signal(GstShimWatch *watch, gpointer object, const char *signal, GCallback callback) {
    return g_signal_connect_data(object, signal, callback, retain(watch), release_closure, 0);
}

GstShimWatch *gst_shim_watch_begin(
    GstShimElement *reference, GstShimHandler handler, void *context, void (*release)(void *)
) {
    GstElement *element = g_weak_ref_get(&reference->weak);
    if (!element) return NULL;
    GstBus *bus = gst_element_get_bus(element);
    if (!bus) {
        gst_object_unref(element);
        return NULL;
    }
    GstShimWatch *watch = g_new0(GstShimWatch, 1);
    watch->references = 1;
    pthread_mutex_init(&watch->mutex, NULL);
    g_weak_ref_init(&watch->weak, element);
    watch->address = element;
    watch->bus = bus;
    watch->sinks = g_ptr_array_new();
    watch->handler = handler;
    watch->context = context;
    watch->release = release;
    gst_bus_enable_sync_message_emission(bus);
    watch->messages = connect_signal(watch, bus, "sync-message", G_CALLBACK(take_message));
    if (GST_IS_BIN(element)) {
        watch->signals[0] = connect_signal(watch, element, "deep-element-added", G_CALLBACK(take_element));
        watch->signals[1] = connect_signal(watch, element, "deep-element-removed", G_CALLBACK(take_removal));
    }
    if (has_sound(element)) {
        watch->signals[2] = connect_signal(watch, element, "notify::volume", G_CALLBACK(take_sound));
        watch->signals[3] = connect_signal(watch, element, "notify::mute", G_CALLBACK(take_sound));
        take_sound(element, NULL, watch);
    }
    take_children(watch, element);
    gst_object_unref(element);
    return watch;
}

void gst_shim_watch_end(GstShimWatch *watch) {
    pthread_mutex_lock(&watch->mutex);
    watch->isEnded = true;
    GPtrArray *sinks = watch->sinks;
    watch->sinks = g_ptr_array_new();
    pthread_mutex_unlock(&watch->mutex);
    g_signal_handler_disconnect(watch->bus, watch->messages);
    gst_bus_disable_sync_message_emission(watch->bus);
    GstElement *element = g_weak_ref_get(&watch->weak);
    if (element) {
        for (size_t index = 0; index < G_N_ELEMENTS(watch->signals); index++) {
            if (watch->signals[index]) g_signal_handler_disconnect(element, watch->signals[index]);
        }
        gst_object_unref(element);
    }
    for (guint index = 0; index < sinks->len; index++) end_sink(g_ptr_array_index(sinks, index));
    g_ptr_array_unref(sinks);
    release_watch(watch);
}
#endif
