/// Limits of the choice of rungs, for every rule.
public struct AdaptationConstraints: Hashable, Sendable {
    /// The highest allowed peak bitrate, bit/s.
    public var maximumBitrate: Int?
    /// The largest allowed width, pixels.
    public var maximumWidth: Int?
    /// The largest allowed height, pixels.
    public var maximumHeight: Int?
    /// The highest allowed peak bitrate until playback has started, bit/s.
    public var maximumStartBitrate: Int?
    /// Rungs that are not available, for example because fetching them failed.
    package var excluded: Set<Int>

    /// Creates constraints; by default nothing is constrained.
    public init(
        maximumBitrate: Int? = nil,
        maximumWidth: Int? = nil,
        maximumHeight: Int? = nil,
        maximumStartBitrate: Int? = nil,
        excluded: Set<Int> = []
    ) {
        self.maximumBitrate = maximumBitrate
        self.maximumWidth = maximumWidth
        self.maximumHeight = maximumHeight
        self.maximumStartBitrate = maximumStartBitrate
        self.excluded = excluded
    }

    /// The allowed rungs, from the lowest; never empty.
    ///
    /// If no rung is within the limits, the lowest rung that is not excluded is allowed; if all are excluded, the
    /// lowest rung.
    package func allowedRungs(of ladder: BitrateLadder, isStarting: Bool) -> [Int] {
        let available = ladder.indices.filter { !excluded.contains($0) }
        let allowed = available.filter { fits(ladder[$0], isStarting: isStarting) }
        if !allowed.isEmpty { return allowed }
        return [available.first ?? 0]
    }

    private func fits(_ rung: LadderRung, isStarting: Bool) -> Bool {
        let limit = min(maximumBitrate ?? .max, isStarting ? maximumStartBitrate ?? .max : .max)
        return rung.peakBitrate <= limit && rung.width <= maximumWidth ?? .max && rung.height <= maximumHeight ?? .max
    }
}
