#if canImport(CGStreamer)
internal import CGStreamer
internal import Foundation
package import Instrument
package import InstrumentFrameCode
package import InstrumentGStreamer
package import TruthStage

/// A real `playbin` without a window and without a sound device, in an app that waits for its buffers: an eye reads the
/// code of each picture when the sink shows it, an ear counts the samples, and a tracker watches.
package final class RealGStreamer: RealPlayer {
    /// Why GStreamer cannot be used.
    package struct Unusable: Error, CustomStringConvertible {
        package let description: String
    }

    package static var version: String {
        var parts: (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
        gst_version(&parts.0, &parts.1, &parts.2, &parts.3)
        return "\(parts.0).\(parts.1).\(parts.2)"
    }

    private struct Element: @unchecked Sendable { let pointer: UnsafeMutablePointer<GstElement> }

    /// What the app wants and knows.
    private struct App {
        var isPlaying = false
        var isBuffered = true
        var isEnded = false
        var messageCount = 0
        var handledCount = 0
    }

    private let pipeline: Element
    private let sink = Sink()
    package let journal = SignalJournal()
    private let app = Lock(App())
    /// The tracker's player.
    package let tracked: GStreamerPlayer
    /// The diagnostics of the tracker.
    package let diagnostics = Lock<[GStreamerDiagnostic]>([])

    /// Prepares a pipeline of an address; it plays after ``play()``.
    ///
    /// - Parameter kind: `playbin` or `playbin3`.
    package init(_ address: String, kind: String = "playbin") throws {
        gst_init(nil, nil)
        guard let pipeline = gst_element_factory_make(kind, nil) else {
            throw Unusable(description: "there is no \(kind): is gstreamer1.0-plugins-base installed?")
        }
        self.pipeline = Element(pointer: pipeline)
        tracked = GStreamerPlayer(UnsafeMutableRawPointer(pipeline)) { [diagnostics] diagnostic in
            diagnostics.withLock { $0.append(diagnostic) }
        }
        let picture = "videoconvert ! videoscale ! video/x-raw,format=I420,width=\(Sink.width),height=\(Sink.height)"
        let sound = "audioconvert ! audioresample ! audio/x-raw,format=S16LE,rate=48000,channels=2"
        try attach(picture, as: "video-sink", Sink.show)
        try attach(sound, as: "audio-sink", Sink.play)
        gst_util_set_object_arg(Self.object(pipeline), "uri", address)
    }

    private static func object(_ element: UnsafeMutablePointer<GstElement>) -> UnsafeMutablePointer<GObject> {
        UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
    }

    private func attach(_ converters: String, as property: String, _ callback: Sink.Callback) throws {
        let description = "\(converters) ! fakesink name=end sync=true signal-handoffs=true"
        guard let bin = gst_parse_bin_from_description(description, 1, nil) else {
            throw Unusable(description: "GStreamer has no \(description): is gstreamer1.0-plugins-base installed?")
        }
        let end = UnsafeMutableRawPointer(bin).withMemoryRebound(to: GstBin.self, capacity: 1) {
            gst_bin_get_by_name($0, "end")
        }
        g_signal_connect_data(
            end,
            "handoff",
            unsafeBitCast(callback, to: GCallback.self),
            Unmanaged.passUnretained(sink).toOpaque(),
            nil,
            GConnectFlags(rawValue: 0)
        )
        gst_object_unref(end)
        var value = GValue()
        g_value_init(&value, gst_element_get_type())
        g_value_set_object(&value, bin)
        g_object_set_property(Self.object(pipeline.pointer), property, &value)
        g_value_unset(&value)
    }

    package func observe() { tracked.report { [journal] in journal.append($0) } }

    /// Takes the bus's sync handler, as apps with a video overlay do: it passes all messages, or keeps all for itself.
    package func takeSyncHandler(isPassing: Bool) {
        let bus = gst_element_get_bus(pipeline.pointer)
        let context = Unmanaged.passUnretained(self).toOpaque()
        gst_bus_set_sync_handler(bus, isPassing ? Self.passMessage : Self.dropMessage, context, nil)
        gst_object_unref(bus)
    }

    private static let passMessage: GstBusSyncHandler = { _, _, context in
        count(context)
        return GST_BUS_PASS
    }

    private static let dropMessage: GstBusSyncHandler = { _, message, context in
        count(context)
        if let message {
            gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self))
        }
        return GST_BUS_DROP
    }

    private static func count(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        Unmanaged<RealGStreamer>.fromOpaque(context).takeUnretainedValue().app.withLock { $0.handledCount += 1 }
    }

    /// The messages that the sync handler has seen.
    package var handledCount: Int { app.withLock { $0.handledCount } }

    private func set(_ state: GstState) { gst_element_set_state(pipeline.pointer, state) }

    /// Plays, with an app that reads its bus on a thread.
    package func play() {
        app.withLock { $0.isPlaying = true }
        let bus = Bus(pipeline: pipeline.pointer)
        Thread { [self] in
            while app.withLock({ !$0.isEnded }) { bus.pop(20, handle) }
            bus.release()
        }.start()
        set(GST_STATE_PLAYING)
    }

    /// As GStreamer's documentation asks of apps: paused until the buffers are full.
    private func handle(_ message: UnsafeMutablePointer<GstMessage>) {
        app.withLock { $0.messageCount += 1 }
        guard message.pointee.type == GST_MESSAGE_BUFFERING else { return }
        var percent: Int32 = 0
        gst_message_parse_buffering(message, &percent)
        let isWanted = app.withLock { app in
            app.isBuffered = percent >= 100
            return app.isPlaying && app.isBuffered
        }
        set(isWanted ? GST_STATE_PLAYING : GST_STATE_PAUSED)
    }

    package func pause(_ isPaused: Bool) {
        let isPlaying = app.withLock { app in
            app.isPlaying = !isPaused
            return app.isPlaying && app.isBuffered
        }
        set(isPlaying ? GST_STATE_PLAYING : GST_STATE_PAUSED)
    }

    package func seek(toMilliseconds time: Int64) {
        gst_element_seek_simple(
            pipeline.pointer,
            GST_FORMAT_TIME,
            GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue),
            Int(time) * 1_000_000
        )
    }

    package func setRate(_ rate: Double) {
        var position = 0
        gst_element_query_position(pipeline.pointer, GST_FORMAT_TIME, &position)
        let flags = GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)
        gst_element_seek(
            pipeline.pointer,
            rate,
            GST_FORMAT_TIME,
            flags,
            GST_SEEK_TYPE_SET,
            position,
            GST_SEEK_TYPE_NONE,
            -1
        )
    }

    package func setVolume(_ volume: Double) {
        gst_util_set_object_arg(Self.object(pipeline.pointer), "volume", "\(volume)")
    }

    package func stop() { set(GST_STATE_NULL) }

    /// Gives the pipeline away, as an app does at its end. Nothing may be called afterwards.
    package func release() {
        app.withLock { $0.isEnded = true }
        set(GST_STATE_NULL)
        gst_object_unref(pipeline.pointer)
    }

    package func end() {
        tracked.close()
        tracked.settle()
        release()
    }

    package var eye: PlaybackEye { sink.seen.withLock { $0.eye } }
    /// What the ear has heard.
    package var ear: SampleCounter { sink.seen.withLock { $0.ear } }
    /// The messages that the app has read from its bus.
    package var messageCount: Int { app.withLock { $0.messageCount } }
}

/// The bus of a pipeline, which outlives the pipeline.
private struct Bus: @unchecked Sendable {
    private let pointer: UnsafeMutablePointer<GstBus>?

    init(pipeline: UnsafeMutablePointer<GstElement>) { pointer = gst_element_get_bus(pipeline) }

    func pop(_ milliseconds: UInt, _ body: (UnsafeMutablePointer<GstMessage>) -> Void) {
        guard let message = gst_bus_timed_pop(pointer, milliseconds * 1_000_000) else { return }
        body(message)
        gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self))
    }

    func release() { gst_object_unref(pointer) }
}

/// The picture and the sound that the sinks give out.
private final class Sink: Sendable {
    typealias Callback =
        @convention(c) (
            UnsafeMutablePointer<GstElement>?, UnsafeMutablePointer<GstBuffer>?, UnsafeMutablePointer<GstPad>?,
            UnsafeMutableRawPointer?
        ) -> Void

    static let width = 320
    static let height = 180

    struct Seen {
        var eye = PlaybackEye()
        var ear = SampleCounter()
    }

    let seen = Lock(Seen())

    private static func of(_ context: UnsafeMutableRawPointer?) -> Sink? {
        context.map { Unmanaged<Sink>.fromOpaque($0).takeUnretainedValue() }
    }

    static let show: Callback = { _, buffer, _, context in
        guard let sink = Sink.of(context), let buffer else { return }
        let now = SystemClock().now
        var map = GstMapInfo()
        guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return }
        defer { gst_buffer_unmap(buffer, &map) }
        let bytes = UnsafeRawBufferPointer(start: map.data, count: Int(map.size))
        let number = FrameCode.number(in: bytes, layout: .luma(width: width, height: height))
        sink.seen.withLock { $0.eye.saw(number, at: now) }
    }

    static let play: Callback = { _, buffer, _, context in
        guard let buffer else { return }
        let now = SystemClock().now
        // Two channels of two bytes.
        let count = Int(gst_buffer_get_size(buffer)) / 4
        Sink.of(context)?.seen.withLock { $0.ear.heard(count, at: now) }
    }
}
#endif
