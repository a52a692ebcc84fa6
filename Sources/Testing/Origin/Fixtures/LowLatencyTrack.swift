internal import Instrument
internal import NIOCore

/// A track whose segments are divided into parts of about half a second, looped without an end.
struct LowLatencyTrack: Sendable {
    /// A part, counted through the loops.
    struct Part: Hashable, Sendable {
        /// The number of the segment and the place in it.
        var segment: Int
        var place: Int
        /// In milliseconds since the start of the stream.
        var start: Int64
        var end: Int64
        var isIndependent: Bool
    }

    let name: String
    let file: FragmentedFile
    /// The fragments of each segment.
    private let segments: [Range<Int>]

    /// Groups the fragments of a file into segments of two seconds; nil if a segment would have none.
    init?(_ name: String, _ file: FragmentedFile) {
        let length = Fixtures.segmentSeconds * file.timescale
        let count = (file.duration + length / 2) / max(1, length)
        let segments = (0..<count).map { number in
            let first = file.fragments.partitioningIndex { $0.start >= number * length }
            let end = number + 1 < count ? (number + 1) * length : Int.max
            return first..<file.fragments.partitioningIndex { $0.start >= end }
        }
        guard count > 0, segments.allSatisfy({ !$0.isEmpty }) else { return nil }
        (self.name, self.file, self.segments) = (name, file, segments)
    }

    /// The number of segments before the loop restarts.
    var count: Int { segments.count }

    /// The parts of a segment, counted through the loops.
    func parts(of segment: Int) -> [Part] {
        let (round, range) = (segment / count, segments[segment % count])
        return range.enumerated().map { place, index in
            let fragment = file.fragments[index]
            return Part(
                segment: segment,
                place: place,
                start: milliseconds(fragment.start, round),
                end: milliseconds(fragment.start + fragment.duration, round),
                // The sound's frames do not depend on one another.
                isIndependent: place == 0 || file.codecs.hasPrefix("mp4a")
            )
        }
    }

    private func milliseconds(_ time: Int, _ round: Int) -> Int64 {
        Int64(clamping: (file.duration * round + time) * 1_000 / file.timescale)
    }

    /// The longest duration of a part, in seconds.
    var partTarget: Double {
        Double(file.fragments.map(\.duration).max() ?? 0) / Double(file.timescale)
    }

    func body(of part: Part) -> Body? {
        file.body(of: segments[part.segment % count].lowerBound + part.place, round: part.segment / count)
    }

    /// A whole segment: its parts one after another.
    func body(of segment: Int) -> Body? {
        var whole = ByteBuffer()
        for part in parts(of: segment) {
            guard case .buffer(var bytes)? = body(of: part) else { return nil }
            whole.writeBuffer(&bytes)
        }
        return .buffer(whole)
    }
}
