/// A variant or a sound track in one packaging: segments that can be looped.
struct Track: Sendable {
    /// The packaging of segments.
    enum Packaging: String, Sendable, CaseIterable {
        /// Transport stream with video and audio, two seconds.
        case transport = "ts"
        /// Transport stream with video and audio, six seconds.
        case longTransport = "ts6"
        /// Fragmented MP4 with separate video and audio, two seconds.
        case fragmented = "fmp4"

        var isTransport: Bool { self != .fragmented }
        /// The nominal length of a segment, in seconds.
        var seconds: Int { self == .longTransport ? 6 : 2 }
    }

    /// The name in paths.
    var name: String
    /// The number of segments before the loop restarts.
    var count: Int
    /// The file extension.
    var ending: String
    /// The duration of each segment, in seconds.
    var durations: [Double]
    /// The size of each segment in bytes.
    var sizes: [Int]
    /// The path of the initialization segment; nil without one.
    var initialization: String?
    /// Returns the segment with that number, counted through the loops.
    var body: @Sendable (Int) -> Body?
}

extension Track {
    /// The peak bitrate of a segment, bit/s (RFC 8216, section 4.3.4.2: `BANDWIDTH`).
    var peakBitrate: Int {
        zip(sizes, durations).map { $1 > 0 ? Int((Double($0 * 8) / $1).rounded(.up)) : 0 }.max() ?? 0
    }

    /// The average bitrate, bit/s.
    var averageBitrate: Int {
        let time = durations.reduce(0, +)
        return time > 0 ? Int((Double(sizes.reduce(0, +) * 8) / time).rounded()) : 0
    }
}
