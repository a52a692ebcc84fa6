import CGTK
import Instrument
import InstrumentGStreamer

/// The app's player: a `playbin3`. Used on the main thread alone.
final class MediaPlayer {
    /// Measures the pipeline: all that an instrument needs of this player.
    let measured: GStreamerPlayer
    var onEnd: (_ error: String?) -> Void = { _ in }
    private(set) var isPlaying = false
    private var isBuffered = true
    private let pipeline: UnsafeMutablePointer<GstElement>

    /// Creates a player; nil without GStreamer's base plugins. A silent player needs no sound device.
    init?(isSilent: Bool) {
        gst_init(nil, nil)
        let pictures = "videoconvert ! video/x-raw,format=RGBA ! fakesink name=end sync=true enable-last-sample=true"
        let description = "playbin3 video-sink=\"\(pictures)\"" + (isSilent ? " audio-sink=\"fakesink sync=true\"" : "")
        guard let pipeline = gst_parse_launch(description, nil) else { return nil }
        (self.pipeline, measured) = (pipeline, GStreamerPlayer(pipeline))
        let bus = gst_element_get_bus(pipeline)
        gst_bus_add_watch(bus, Self.takeMessage, Unmanaged.passUnretained(self).toOpaque())
        gst_object_unref(bus)
    }

    /// Plays an address or a file.
    func open(_ source: String) {
        stop()
        let address = source.contains("://") ? source : gst_filename_to_uri(source, nil).map { String(cString: $0) }
        gst_util_set_object_arg(cast(pipeline), "uri", address ?? source)
        run(true)
    }

    func run(_ isPlaying: Bool) {
        self.isPlaying = isPlaying
        gst_element_set_state(pipeline, isPlaying && isBuffered ? GST_STATE_PLAYING : GST_STATE_PAUSED)
    }

    func stop() {
        (isPlaying, isBuffered) = (false, true)
        gst_element_set_state(pipeline, GST_STATE_NULL)
    }

    func seek(to position: Duration) {
        let flags = GstSeekFlags(GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_KEY_UNIT.rawValue)
        gst_element_seek_simple(pipeline, GST_FORMAT_TIME, flags, Int(position / .nanoseconds(1)))
    }

    private static let takeMessage: GstBusFunc = { _, message, context in
        guard let context, let message else { return 1 }
        Unmanaged<MediaPlayer>.fromOpaque(context).takeUnretainedValue().take(message)
        return 1
    }

    private func take(_ message: UnsafeMutablePointer<GstMessage>) {
        switch message.pointee.type {
        case GST_MESSAGE_BUFFERING:
            var percent: Int32 = 0
            gst_message_parse_buffering(message, &percent)
            isBuffered = percent >= 100
            run(isPlaying)
        case GST_MESSAGE_EOS:
            run(false)
            onEnd(nil)
        case GST_MESSAGE_ERROR:
            var error: UnsafeMutablePointer<GError>?
            gst_message_parse_error(message, &error, nil)
            onEnd(error.map { String(cString: $0.pointee.message) } ?? "unknown error")
            g_clear_error(&error)
            stop()
        default: break
        }
    }

    /// The picture that is shown now, as a texture of GDK's that the caller unreferences; nil without one.
    func picture() -> OpaquePointer? {
        guard let sink = gst_bin_get_by_name(cast(pipeline), "end") else { return nil }
        defer { gst_object_unref(sink) }
        guard let sample = gst_base_sink_get_last_sample(cast(sink)) else { return nil }
        defer { gst_mini_object_unref(cast(UnsafeMutableRawPointer(sample))) }
        let structure = gst_caps_get_structure(gst_sample_get_caps(sample), 0)
        var (width, height, map): (Int32, Int32, GstMapInfo) = (0, 0, GstMapInfo())
        gst_structure_get_int(structure, "width", &width)
        gst_structure_get_int(structure, "height", &height)
        guard width > 0, height > 0, let buffer = gst_sample_get_buffer(sample),
            gst_buffer_map(buffer, &map, GST_MAP_READ) != 0
        else { return nil }
        defer { gst_buffer_unmap(buffer, &map) }
        let bytes = g_bytes_new(map.data, map.size)
        defer { g_bytes_unref(bytes) }
        return gdk_memory_texture_new(width, height, GDK_MEMORY_R8G8B8A8, bytes, map.size / gsize(height))
    }
}

/// GObject's classes are structures in C: a pointer to one is a pointer to its superclass.
func cast<Class>(_ pointer: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Class> {
    pointer.assumingMemoryBound(to: Class.self)
}
