#if canImport(CGStreamer)
internal import CGStreamerShim
internal import Instrument

/// Refers to the app's element, which the app alone keeps, and owns the observation: begun and ended once each.
final class GStreamerHandle: GStreamerElement {
    /// An address that threads may share: the shim's functions may be called on any thread.
    private struct Address: @unchecked Sendable { let pointer: OpaquePointer }

    private let element: Address?
    private let watch = Lock<Address?>(nil)

    init(_ element: UnsafeMutableRawPointer) {
        self.element = gst_shim_element_new(element).map(Address.init)
    }

    deinit {
        endObserving()
        if let element { gst_shim_element_free(element.pointer) }
    }

    func observe(_ inbox: GStreamerInbox) -> Bool {
        guard let element else { return false }
        let context = Unmanaged.passRetained(inbox)
        guard let begun = gst_shim_watch_begin(element.pointer, Self.handler, context.toOpaque(), Self.release) else {
            context.release()
            return false
        }
        let before = watch.withLock { watch in
            defer { watch = Address(pointer: begun) }
            return watch
        }
        if let before { gst_shim_watch_end(before.pointer) }
        return true
    }

    func endObserving() {
        let ended = watch.withLock { watch in
            defer { watch = nil }
            return watch
        }
        if let ended { gst_shim_watch_end(ended.pointer) }
    }

    func state() -> GStreamerEvent.State {
        element.map { GStreamerEvent.State(gst_shim_element_state($0.pointer)) } ?? .none
    }

    func source() -> String? {
        guard let element, let text = gst_shim_element_copy_source(element.pointer) else { return nil }
        defer { gst_shim_free(text) }
        return String(cString: text)
    }

    private static let handler: GstShimHandler = { context, event in
        guard let context, let event, let kind = GStreamerEvent.Kind(event.pointee) else { return }
        Unmanaged<GStreamerInbox>.fromOpaque(context).takeUnretainedValue().take(kind)
    }

    private static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
        if let context { Unmanaged<GStreamerInbox>.fromOpaque(context).release() }
    }
}

extension GStreamerEvent.State {
    fileprivate init(_ state: Int32) { self = Self(rawValue: Int(state)) ?? .none }
}

extension GStreamerEvent.Media {
    fileprivate init(_ media: GstShimMedia) {
        self =
            switch media {
            case GST_SHIM_VIDEO: .video
            case GST_SHIM_AUDIO: .audio
            case GST_SHIM_OTHER: .other
            default: .text
            }
    }
}

extension GStreamerEvent.Kind {
    /// Copies an event; nil for those that are not observed.
    fileprivate init?(_ event: GstShimEvent) {
        let media = GStreamerEvent.Media(event.media)
        switch event.kind {
        case GST_SHIM_STATE:
            self = .state(from: .init(event.oldState), to: .init(event.newState), pending: .init(event.pendingState))
        case GST_SHIM_THREAD: self = .thread
        case GST_SHIM_STREAM_START: self = .streamStart(group: Int(event.group))
        case GST_SHIM_ASYNC_DONE: self = .asyncDone
        case GST_SHIM_BUFFERING: self = .buffering(percent: Int(event.percent), isLive: event.isLive)
        case GST_SHIM_END: self = .end
        case GST_SHIM_SEGMENT_DONE: self = .segmentDone
        case GST_SHIM_ERROR: self = .failed(GStreamerEvent.Failure(event))
        case GST_SHIM_WARNING: self = .warned(GStreamerEvent.Failure(event))
        case GST_SHIM_TAGS:
            let bitrate = event.bitrate > 0 ? Int(clamping: event.bitrate) : nil
            self = .tags(media: media, bitrate: bitrate, language: copied(event.language), title: copied(event.title))
        case GST_SHIM_RENDITION: self = .rendition(bitrate: Int(clamping: event.bitrate))
        case GST_SHIM_DROPPED: self = .dropped(count: Int(clamping: event.dropped), element: event.sink)
        case GST_SHIM_SEEK:
            self = .seek(rate: event.rate, isFlushing: event.isFlushing, position: known(event.position))
        case GST_SHIM_FLUSH: self = .flushed(sink: event.sink)
        case GST_SHIM_CAPS: self = .caps(sink: event.sink, media: media, GStreamerEvent.Picture(event))
        case GST_SHIM_SEGMENT: self = .segment(sink: event.sink, rate: event.rate, duration: known(event.duration))
        case GST_SHIM_BUFFER:
            self = .buffer(
                GStreamerBuffer(
                    sink: event.sink,
                    media: media,
                    position: known(event.position),
                    duration: known(event.duration),
                    ahead: event.ahead,
                    rate: event.rate,
                    isPreroll: event.isPreroll,
                    isDropped: event.isDropped,
                    isSynchronized: event.isSynchronized
                )
            )
        case GST_SHIM_SINK_GONE: self = .sinkGone(event.sink)
        case GST_SHIM_SOUND: self = .sound(volume: event.volume, isMuted: event.isMuted)
        default: return nil
        }
    }
}

extension GStreamerEvent.Failure {
    fileprivate init(_ event: GstShimEvent) {
        self.init(
            domain: copied(event.domain) ?? "unknown",
            code: Int(event.code),
            text: copied(event.text) ?? "no message",
            debug: copied(event.debug) ?? "",
            httpStatus: event.httpStatus > 0 ? Int(event.httpStatus) : nil
        )
    }
}

extension GStreamerEvent.Picture {
    fileprivate init(_ event: GstShimEvent) {
        self.init(
            width: event.width != 0 ? Int(event.width) : nil,
            height: event.height != 0 ? Int(event.height) : nil,
            // 0: the pictures have no fixed rate.
            framesPerSecond: event.framesPerSecond != 0 ? event.framesPerSecond : nil
        )
    }
}

/// Copies a text of GStreamer's.
private func copied(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }

/// -1 stands for a time that is not known.
private func known(_ time: Int64) -> Int64? { time == -1 ? nil : time }
#endif
