#if canImport(CGStreamer)
internal import CGStreamer
package import Instrument
internal import InstrumentGStreamer

/// Small pictures at 60 Hz and silence, played by the clock and shown nowhere.
package final class SilentPipeline: Sendable {
    private struct Element: @unchecked Sendable { let pointer: UnsafeMutablePointer<GstElement> }

    private let pipeline: Element
    private let tracked = Lock<GStreamerPlayer?>(nil)

    package init() throws {
        gst_init(nil, nil)
        let description =
            "videotestsrc pattern=black ! video/x-raw,format=I420,width=16,height=16,framerate=60/1 ! fakesink sync=true"
            + " audiotestsrc wave=silence ! audio/x-raw,rate=48000 ! fakesink sync=true"
        guard let pipeline = gst_parse_launch(description, nil) else {
            throw RealGStreamer.Unusable(description: "no videotestsrc: is gstreamer1.0-plugins-base installed?")
        }
        self.pipeline = Element(pointer: pipeline)
    }

    package func play() { gst_element_set_state(pipeline.pointer, GST_STATE_PLAYING) }

    /// Observes with a new instrument without backends.
    package func track() -> Instrument {
        let player = GStreamerPlayer(UnsafeMutableRawPointer(pipeline.pointer))
        tracked.withLock { $0 = player }
        let instrument = Instrument(backends: [], onDiagnostic: { _ in })
        instrument.add(PlayerTracker(player))
        instrument.ready()
        return instrument
    }

    /// Takes the pipeline down, and gives it away.
    package func end() {
        gst_element_set_state(pipeline.pointer, GST_STATE_NULL)
        tracked.withLock { $0 }?.close()
        gst_object_unref(pipeline.pointer)
    }
}
#endif
