/// What a pipeline reports, copied out of the call: what it points to is gone after the call.
enum GStreamerEvent {
    /// `GstState`; an order.
    enum State: Int, Comparable, Sendable {
        case none, null, ready, paused, playing

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// What a sink takes; `text` is not waited for.
    enum Media: Hashable, Sendable { case text, other, video, audio }

    struct Failure: Hashable, Sendable {
        var domain: String
        var code: Int
        var text: String
        var debug = ""
        var httpStatus: Int?
    }

    /// The properties of a picture; nil where the caps have none.
    struct Picture: Hashable, Sendable {
        var width: Int?
        var height: Int?
        var framesPerSecond: Double?
    }

    enum Kind: Hashable, Sendable {
        /// `STATE_CHANGED` of the pipeline; `pending` is `none` where the change has ended.
        case state(from: State, to: State, pending: State)
        /// `STREAM_STATUS`: a streaming thread is created.
        case thread
        /// `STREAM_START` of the pipeline, with the number of its group of streams.
        case streamStart(group: Int)
        case asyncDone
        /// `BUFFERING`.
        case buffering(percent: Int, isLive: Bool)
        /// `EOS` of the pipeline.
        case end
        case segmentDone
        case failed(Failure)
        case warned(Failure)
        /// `TAG`.
        case tags(media: Media, bitrate: Int?, language: String?, title: String?)
        /// `adaptive-streaming-statistics` with the bit rate of the chosen rendition.
        case rendition(bitrate: Int)
        /// `QOS`: the number of pictures that an element has dropped.
        case dropped(count: Int, element: UInt64)
        /// A seek goes upstream from a sink. Nanoseconds; nil without a position.
        case seek(rate: Double, isFlushing: Bool, position: Int64?)
        /// A sink is flushed.
        case flushed(sink: UInt64)
        case caps(sink: UInt64, media: Media, Picture)
        /// A sink's segment. Nanoseconds; nil for media without a duration.
        case segment(sink: UInt64, rate: Double, duration: Int64?)
        /// A buffer arrives at a sink.
        case buffer(GStreamerBuffer)
        case sinkGone(UInt64)
        case sound(volume: Double, isMuted: Bool)
    }

    /// Up to a century, so that sums of times do not overflow.
    static let times = Int64(0)...3_000_000_000_000_000_000

    static func isPossible(_ rate: Double) -> Bool { rate.isFinite && rate != 0 && abs(rate) <= 1_000 }
}

/// A buffer that arrives at a sink. Times in nanoseconds.
struct GStreamerBuffer: Hashable, Sendable {
    var sink: UInt64
    var media: GStreamerEvent.Media
    /// The position in the media; nil for a buffer without a timestamp.
    var position: Int64?
    var duration: Int64?
    /// How long the sink waits until it shows the buffer; negative for a buffer that is late.
    var ahead: Int64 = 0
    var rate = 1.0
    /// The sink waits for the pipeline to play: the buffer is shown, and stands.
    var isPreroll = false
    /// The sink drops the buffer because it is late.
    var isDropped = false
    /// The sink shows buffers by the clock.
    var isSynchronized = true

    var isPossible: Bool {
        GStreamerEvent.times.contains(position ?? 0) && GStreamerEvent.times.contains(duration ?? 0)
            && GStreamerEvent.times.contains(abs(max(ahead, .min + 1))) && GStreamerEvent.isPossible(rate)
    }
}

extension GStreamerEvent.Picture {
    var isPossible: Bool {
        [width, height].allSatisfy { $0.map { (1...1 << 20).contains($0) } ?? true }
            && framesPerSecond.map { $0.isFinite && $0 > 0 && $0 <= 100_000 } ?? true
    }

    /// Width times height.
    var area: Int? {
        guard let width, let height else { return nil }
        return width * height
    }
}

extension GStreamerEvent.Kind {
    /// The value that is not possible, for a diagnostic; nil if all is possible.
    var impossibleValue: String? {
        switch self {
        case .buffering(let percent, _) where !(0...100).contains(percent): "buffering of \(percent) %"
        case .seek(let rate, _, _) where !GStreamerEvent.isPossible(rate): "a seek with rate \(rate)"
        case .seek(_, _, let position?) where !GStreamerEvent.times.contains(position): "a seek to \(position) ns"
        case .segment(_, let rate, _) where !GStreamerEvent.isPossible(rate): "a segment with rate \(rate)"
        case .segment(_, _, let duration?) where !GStreamerEvent.times.contains(duration):
            "a duration of \(duration) ns"
        case .caps(_, _, let picture) where !picture.isPossible:
            "a picture of \(picture.width ?? 0) × \(picture.height ?? 0) at \(picture.framesPerSecond ?? 0) Hz"
        case .buffer(let buffer) where !buffer.isPossible:
            "a buffer at \(buffer.position ?? 0) ns for \(buffer.duration ?? 0) ns, \(buffer.ahead) ns ahead"
        case .sound(let volume, _) where !volume.isFinite || volume < 0: "a volume of \(volume)"
        case .tags(_, let bitrate?, _, _) where bitrate < 0: "a bit rate of \(bitrate)"
        case .dropped(let count, _) where count < 0: "\(count) dropped pictures"
        default: nil
        }
    }
}
