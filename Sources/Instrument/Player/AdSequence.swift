/// The order of the actions of an ad break, for players that report breaks and ads in any order.
///
/// Each request returns the actions that the ads hub accepts in this state: an ad opens its break, a break closes its
/// ad, quartiles come in order and once, and a pause or a wait for data closes with the ad.
package struct AdSequence: Hashable, Sendable {
    private struct Ad: Hashable {
        var quartiles = 0
        var isPaused = false
        var isBuffering = false
    }

    /// Whether a break is open.
    package private(set) var isInBreak = false
    private var ad: Ad?

    private static let quartileActions: [Action] = [.adFirstQuartile, .adSecondQuartile, .adThirdQuartile]

    /// Creates a sequence without a break.
    package init() {}

    /// Whether an ad is open.
    package var isInAd: Bool { ad != nil }
    /// Whether the open ad is paused.
    package var isPaused: Bool { ad?.isPaused ?? false }
    /// Whether the open ad waits for data.
    package var isBuffering: Bool { ad?.isBuffering ?? false }

    /// A break begins.
    package mutating func beginBreak() -> [Action] {
        if isInBreak { return [] }
        isInBreak = true
        return [.adBreakBegin]
    }

    /// The break ends, and with it an open ad.
    package mutating func finishBreak() -> [Action] {
        guard isInBreak else { return [] }
        let actions = finishAd()
        isInBreak = false
        return actions + [.adBreakFinish]
    }

    /// An ad begins; an open ad ends before it.
    package mutating func beginAd() -> [Action] {
        let actions = finishAd() + beginBreak()
        ad = Ad()
        return actions + [.adBegin]
    }

    /// The open ad ends; `isSkipped` reports first that the person skipped it.
    package mutating func finishAd(isSkipped: Bool = false) -> [Action] {
        guard ad != nil else { return [] }
        let actions = finishBuffering() + finishPause()
        ad = nil
        return actions + (isSkipped ? [.adSkip, .adFinish] : [.adFinish])
    }

    /// The ad reached a quartile, 1 to 3; quartiles that the player passed over are reported before it.
    package mutating func reach(quartile: Int) -> [Action] {
        guard let reached = ad?.quartiles else { return [] }
        let next = min(quartile, Self.quartileActions.count)
        guard next > reached else { return [] }
        ad?.quartiles = next
        return Array(Self.quartileActions[reached..<next])
    }

    /// The ad is paused.
    package mutating func beginPause() -> [Action] {
        guard ad?.isPaused == false else { return [] }
        let actions = finishBuffering()
        ad?.isPaused = true
        return actions + [.adPauseBegin]
    }

    /// The ad is resumed.
    package mutating func finishPause() -> [Action] {
        guard isPaused else { return [] }
        ad?.isPaused = false
        return [.adPauseFinish]
    }

    /// The ad waits for data; a pause is not a wait.
    package mutating func beginBuffering() -> [Action] {
        guard ad?.isBuffering == false, !isPaused else { return [] }
        ad?.isBuffering = true
        return [.adBufferBegin]
    }

    /// The ad has data again.
    package mutating func finishBuffering() -> [Action] {
        guard isBuffering else { return [] }
        ad?.isBuffering = false
        return [.adBufferFinish]
    }
}
