internal import Instrument
internal import InstrumentJSON

/// Media in segments, each of them available at each rung of a ladder.
package struct SegmentedMedia: Hashable, Sendable {
    /// One segment.
    package struct Segment: Hashable, Sendable {
        /// The duration; at least 1 ms.
        package let duration: Duration
        /// The size at each rung, bytes; at least 1.
        package let sizes: [Int64]
    }

    /// The rungs to choose from.
    package let ladder: BitrateLadder
    /// The segments, in order.
    package let segments: [Segment]

    /// Creates media whose segments have the size of the peak bitrate.
    package init(ladder: BitrateLadder, segmentDuration: Duration, count: Int) {
        self.ladder = ladder
        let duration = Self.limited(segmentDuration)
        let sizes = ladder.map { Self.size(bitrate: $0.peakBitrate, duration) }
        segments = Array(repeating: Segment(duration: duration, sizes: sizes), count: min(max(0, count), 100_000))
    }

    /// Creates media of given sizes.
    ///
    /// - Parameters:
    ///   - ladder: the rungs to choose from.
    ///   - durations: the duration of each segment.
    ///   - sizes: for each segment, the bytes at each rung, in the ladder's order; a missing size follows from the
    ///     peak bitrate.
    package init(ladder: BitrateLadder, durations: [Duration], sizes: [[Int64]]) {
        self.ladder = ladder
        segments = durations.enumerated().map { index, duration in
            let duration = Self.limited(duration)
            let given = index < sizes.count ? sizes[index] : []
            return Segment(
                duration: duration,
                sizes: ladder.indices.map { rung in
                    rung < given.count
                        ? Self.limited(given[rung]) : Self.size(bitrate: ladder[rung].peakBitrate, duration)
                }
            )
        }
    }

    /// The duration.
    package var duration: Duration { segments.reduce(.zero) { $0 + $1.duration } }

    private static func limited(_ duration: Duration) -> Duration {
        min(max(duration, .milliseconds(1)), .seconds(1_000_000))
    }

    /// The largest size; a larger one would overflow in bit-nanoseconds.
    private static func limited(_ size: Int64) -> Int64 { min(max(size, 1), 1 << 50) }

    private static func size(bitrate: Int, _ duration: Duration) -> Int64 {
        limited(Int64(clamping: (Double(bitrate) * duration.seconds / 8).rounded(.up)))
    }
}

extension SegmentedMedia {
    /// Ten minutes of Big Buck Bunny in segments of 3 s, by the average bitrates of the BOLA paper: 230, 331, 477, 688,
    /// 991, 1427, 2056, 2962, 5027 and 6000 kbit/s. INFOCOM 2016, table I; Sabre, bbb.json. Sizes are constant here
    /// and vary there.
    package static let bigBuckBunny: SegmentedMedia = {
        let heights = [240, 240, 288, 360, 432, 480, 576, 720, 1080, 1080]
        let kilobits = [230, 331, 477, 688, 991, 1427, 2056, 2962, 5027, 6000]
        let rungs = zip(kilobits, heights).map {
            LadderRung(peakBitrate: $0 * 1000, width: $1 * 16 / 9, height: $1)
        }
        let ladder = BitrateLadder(rungs) ?? BitrateLadder(LadderRung(peakBitrate: 230_000))
        return SegmentedMedia(ladder: ladder, segmentDuration: .seconds(3), count: 199)
    }()

    /// Reads Sabre's description of media: `segment_duration_ms`, `bitrates_kbps`, `segment_sizes_bits`.
    ///
    /// - Returns: nil if the text is no such description.
    package init?(readingSabre text: String) {
        guard let value = try? JSONValue(parsing: text), let milliseconds = value["segment_duration_ms"]?.number,
            case .array(let bitrates)? = value["bitrates_kbps"], case .array(let rows)? = value["segment_sizes_bits"]
        else { return nil }
        let rungs = bitrates.compactMap(\.number).map {
            LadderRung(peakBitrate: Int(Int64(clamping: min(max($0, 0), 1e9) * 1000)))
        }
        guard rungs.count == bitrates.count, let ladder = BitrateLadder(rungs), ladder.elementsEqual(rungs) else {
            return nil
        }
        let sizes = rows.map { row -> [Int64] in
            guard case .array(let sizes) = row else { return [] }
            return sizes.compactMap(\.number).map { Int64(clamping: ($0 / 8).rounded(.up)) }
        }
        guard !rows.isEmpty, sizes.allSatisfy({ $0.count == rungs.count }) else { return nil }
        let duration = Duration(clampingSeconds: milliseconds / 1000)
        self.init(ladder: ladder, durations: rows.map { _ in duration }, sizes: sizes)
    }
}
