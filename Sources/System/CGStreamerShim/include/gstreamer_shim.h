#ifndef INSTRUMENT_GSTREAMER_SHIM_H
#define INSTRUMENT_GSTREAMER_SHIM_H

#include <stdbool.h>
#include <stdint.h>

// No header of GStreamer's: its checks and accessors are macros, which Swift does not see.

typedef enum {
    /// The state of the pipeline: `oldState`, `newState`, `pendingState`.
    GST_SHIM_STATE,
    /// A thread of a source or a queue is created: `STREAM_STATUS`.
    GST_SHIM_THREAD,
    /// `STREAM_START` with `group`, 0 without one.
    GST_SHIM_STREAM_START,
    GST_SHIM_ASYNC_DONE,
    /// `BUFFERING` with `percent`, and whether the pipeline is live.
    GST_SHIM_BUFFERING,
    GST_SHIM_END,
    GST_SHIM_SEGMENT_DONE,
    /// `ERROR` and `WARNING`: `domain`, `code`, `text`, `debug`, `httpStatus` (0 without one).
    GST_SHIM_ERROR,
    GST_SHIM_WARNING,
    /// `TAG`: `bitrate` (0 without one) of `media`, `language`, `title`.
    GST_SHIM_TAGS,
    /// `adaptive-streaming-statistics` with the bit rate of the rendition that is loaded from now on.
    GST_SHIM_RENDITION,
    /// `QOS` of an element with a number, `sink`: `dropped` since the element began.
    GST_SHIM_DROPPED,
    /// A seek goes upstream from a sink: `rate`, `isFlushing`, and the `position`, -1 for a seek that has none.
    GST_SHIM_SEEK,
    /// A sink is flushed.
    GST_SHIM_FLUSH,
    /// A sink's caps: `media`, `width`, `height`, `framesPerSecond`.
    GST_SHIM_CAPS,
    /// A sink's segment: `rate`, and the duration of the media, -1 without one.
    GST_SHIM_SEGMENT,
    /// A buffer arrives at a sink.
    GST_SHIM_BUFFER,
    /// A sink has left the pipeline.
    GST_SHIM_SINK_GONE,
    /// `volume` and `isMuted` of a pipeline that has both.
    GST_SHIM_SOUND,
} GstShimKind;

/// What a sink takes: other data, for example of a file; nothing that is known yet, or texts.
typedef enum { GST_SHIM_NONE, GST_SHIM_OTHER, GST_SHIM_VIDEO, GST_SHIM_AUDIO } GstShimMedia;

/// Something that a pipeline reported. Texts are valid during the call and may be null.
typedef struct {
    GstShimKind kind;
    GstShimMedia media;
    /// The number of the sink.
    uint64_t sink;
    int32_t oldState, newState, pendingState;
    int32_t percent, code, httpStatus;
    int32_t width, height;
    uint32_t group;
    bool isLive, isFlushing, isMuted;
    /// The sink waits for the pipeline to play: the buffer is shown, and stands.
    bool isPreroll;
    /// The sink drops the buffer, because it is late.
    bool isDropped;
    /// The sink shows buffers by the clock; otherwise as they come.
    bool isSynchronized;
    double framesPerSecond, rate, volume;
    uint64_t bitrate, dropped;
    /// In nanoseconds. The position and the duration of a buffer, or of the media; -1 without one.
    int64_t position, duration;
    /// In nanoseconds: how long the sink waits until it shows the buffer; negative for a buffer that is late.
    int64_t ahead;
    const char *domain, *text, *debug, *language, *title;
} GstShimEvent;

/// Takes an event, on the thread that causes it.
typedef void (*GstShimHandler)(void *context, const GstShimEvent *event);

/// Refers to an element without a reference: the app alone keeps its pipeline.
typedef struct GstShimElement GstShimElement;

/// Refers to `element`, a `GstElement` that the caller keeps during this call; null if this is no element. Ends with
/// `gst_shim_element_free`.
GstShimElement *gst_shim_element_new(void *element);
void gst_shim_element_free(GstShimElement *element);

/// The state of the element (2: READY, 3: PAUSED, 4: PLAYING), of the changes that have ended; 0 if the element is gone.
int32_t gst_shim_element_state(GstShimElement *element);

/// The address that the element plays, for `gst_shim_free`; null without one. Not to be called from a handler.
char *gst_shim_element_copy_source(GstShimElement *element);

/// An observation.
typedef struct GstShimWatch GstShimWatch;

/// Begins to observe; null if the element is gone or has no bus. `release` is called once, when no call can come any more:
/// after `gst_shim_watch_end`, and after the calls that run.
GstShimWatch *gst_shim_watch_begin(
    GstShimElement *element, GstShimHandler handler, void *context, void (*release)(void *)
);

/// Ends the observation, and the watch. Does not wait for calls that run. Once.
void gst_shim_watch_end(GstShimWatch *watch);

/// `g_free`.
void gst_shim_free(char *text);

#endif
