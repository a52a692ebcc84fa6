/// A rendition of a stream that a player may choose.
public struct LadderRung: Hashable, Sendable {
    /// The caller's number of the variant; rules do not read it.
    public var id: Int
    /// The peak bitrate, bit/s; at least 1. HLS `BANDWIDTH`, DASH `@bandwidth`.
    public var peakBitrate: Int
    /// The average bitrate, bit/s; nil if not declared. HLS `AVERAGE-BANDWIDTH`.
    public var averageBitrate: Int?
    /// Pixels; 0 where unknown.
    public var width: Int
    /// Pixels; 0 where unknown.
    public var height: Int
    /// Frames per second; 0 where unknown.
    public var frameRate: Double

    /// Creates a rung; bitrates are at least 1, pixels and frames not negative.
    public init(
        id: Int = 0,
        peakBitrate: Int,
        averageBitrate: Int? = nil,
        width: Int = 0,
        height: Int = 0,
        frameRate: Double = 0
    ) {
        self.id = id
        self.peakBitrate = max(1, peakBitrate)
        self.averageBitrate = averageBitrate.map { max(1, $0) }
        self.width = max(0, width)
        self.height = max(0, height)
        self.frameRate = frameRate.isFinite ? max(0, frameRate) : 0
    }
}

/// The rungs that a player may choose from: at least one, from the lowest peak bitrate to the highest.
///
/// There is no empty ladder, so that each rule has a rung to choose.
public struct BitrateLadder: Hashable, Sendable, RandomAccessCollection {
    private let rungs: [LadderRung]

    /// Creates a ladder; sorts rungs by peak bitrate and keeps the order of equal rungs.
    ///
    /// - Returns: nil if there is no rung.
    public init?(_ rungs: [LadderRung]) {
        if rungs.isEmpty { return nil }
        let sorted = rungs.enumerated().sorted {
            ($0.element.peakBitrate, $0.offset) < ($1.element.peakBitrate, $1.offset)
        }
        self.rungs = sorted.map(\.element)
    }

    /// Creates a ladder of one rung or more.
    public init(_ rung: LadderRung, _ more: LadderRung...) {
        self = BitrateLadder([rung] + more) ?? BitrateLadder(single: rung)
    }

    private init(single: LadderRung) { rungs = [single] }

    /// The index of the lowest rung: 0.
    public var startIndex: Int { 0 }
    /// The number of rungs.
    public var endIndex: Int { rungs.count }
    /// The index of the highest rung.
    public var highest: Int { rungs.count - 1 }
    /// Returns the rung at an index, which is limited to the ladder.
    public subscript(position: Int) -> LadderRung { rungs[clamped(position)] }

    /// Returns an index limited to the ladder.
    package func clamped(_ index: Int) -> Int { Swift.min(Swift.max(0, index), highest) }
}
