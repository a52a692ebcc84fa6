/// What limits the choice of rungs, whatever the rule.
public struct AdaptationConstraints: Hashable, Sendable {
    /// No rung above this peak bitrate, bit/s.
    public var maximumBitrate: Int?
    /// No rung that is wider, pixels.
    public var maximumWidth: Int?
    /// No rung that is higher, pixels.
    public var maximumHeight: Int?
    /// Until playback has started, no rung above this peak bitrate, bit/s.
    public var maximumStartBitrate: Int?
    /// Rungs that are not available, for example because fetching them failed.
    public var excluded: Set<Int>

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

    /// The rungs that may be chosen, from the lowest; never empty.
    ///
    /// If nothing fits, it is the lowest rung that is not excluded, and if all are, the lowest.
    public func allowedRungs(of ladder: BitrateLadder, isStarting: Bool) -> [Int] {
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
