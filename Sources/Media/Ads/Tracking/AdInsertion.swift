public import Instrument

/// The course of a playback with ad breaks: the pauses of the content, the ads, and the positions at which the content
/// resumes.
///
/// ```swift
/// var insertion = AdInsertion(breaks)
/// for effect in insertion.handle(.begin, at: clock.now) { perform(effect) }
/// ```
/// A value without clock or player: inputs carry the instant, and ``deadline`` is the next instant at which the player
/// must call with ``Input/deadline``. Each break plays once. An ad that does not start in time, or fails, is replaced
/// by a stand-alone ad, else left out; content resumes in any case.
public struct AdInsertion: Hashable, Sendable {
    /// A break with its ads.
    public struct Break: Hashable, Sendable {
        /// The time of the break.
        public var roll: AdRoll
        /// The position in the content, in nanoseconds; without effect for pre- and post-rolls.
        public var position: Int64
        /// The ads, in order.
        public var ads: [ResolvedAd]
        /// Stand-alone ads that may replace an ad that fails.
        public var fallbacks: [ResolvedAd]
        /// The position at which the content resumes, in nanoseconds; nil for the position of the break.
        public var resumePosition: Int64?

        /// Creates a break.
        public init(
            _ roll: AdRoll,
            at position: Int64,
            ads: [ResolvedAd],
            fallbacks: [ResolvedAd] = [],
            resumePosition: Int64? = nil
        ) {
            (self.roll, self.position, self.ads) = (roll, position, ads)
            (self.fallbacks, self.resumePosition) = (fallbacks, resumePosition)
        }
    }

    /// An event in the players.
    public enum Input: Hashable, Sendable {
        /// The playback begins.
        case begin
        /// The playhead of the content moved, in nanoseconds.
        case contentMoved(to: Int64)
        /// The person sought: the playhead of the content jumped.
        case contentSought(to: Int64)
        /// The content reached its end.
        case contentEnded
        /// The first frame of the ad is shown.
        case adStarted
        /// The ad was played to its end, or skipped.
        case adEnded
        /// The ad cannot be played.
        case adFailed(VASTErrorCode)
        /// The instant ``AdInsertion/deadline`` has come.
        case deadline
    }

    /// A command for the players.
    public enum Effect: Hashable, Sendable {
        /// Pause the content.
        case pauseContent
        /// A break begins with a number of ads.
        case beginBreak(AdRoll, requested: Int)
        /// Load and play an ad.
        case play(ResolvedAd)
        /// Stop the ad, which failed with a code.
        case stop(VASTErrorCode)
        /// The break ends.
        case endBreak
        /// Play the content from a position, in nanoseconds.
        case playContent(from: Int64)
        /// The playback ends.
        case end
    }

    private struct Current: Hashable {
        var roll: AdRoll
        var resumePosition: Int64
        var ads: ArraySlice<ResolvedAd>
        var fallbacks: ArraySlice<ResolvedAd>
        var isStarted = false
    }

    private var waiting: [Break]
    private var current: Current?
    private var position: Int64 = 0
    private var hasBegun = false
    private let startTimeout: Duration

    /// The instant at which an ad that has not started is given up; nil if none is awaited.
    public private(set) var deadline: MonotonicInstant?

    /// Whether an ad break runs.
    public var isInBreak: Bool { current != nil }

    /// Creates the course of a playback.
    /// - Parameters:
    ///   - breaks: the breaks, in any order.
    ///   - startTimeout: how long an ad may take to show its first frame.
    public init(_ breaks: [Break], startTimeout: Duration = .seconds(8)) {
        waiting = breaks.enumerated().sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }
            .map(\.element)
        self.startTimeout = startTimeout
    }

    /// Handles an input; returns the effects, in order.
    public mutating func handle(_ input: Input, at now: MonotonicInstant) -> [Effect] {
        switch input {
        case .begin:
            guard !hasBegun else { return [] }
            hasBegun = true
            return begin(take { $0.roll == .pre }, resumingAt: 0, now) ?? [.playContent(from: 0)]
        case .contentMoved(let target), .contentSought(let target): return move(to: target, now)
        case .contentEnded:
            guard current == nil else { return [] }
            return begin(take { $0.roll == .post }, resumingAt: .max, now) ?? [.end]
        case .adStarted:
            current?.isStarted = true
            deadline = nil
            return []
        case .adEnded: return current == nil ? [] : next(now)
        case .adFailed(let code): return fail(code, now)
        case .deadline:
            guard let deadline, now >= deadline, current?.isStarted == false else { return [] }
            return fail(.displayTimeOut, now)
        }
    }

    /// Of the breaks that the playhead passes, the last one plays; the others count as played.
    private mutating func move(to target: Int64, _ now: MonotonicInstant) -> [Effect] {
        guard current == nil, hasBegun else { return [] }
        defer { position = target }
        guard target >= position else { return [] }
        let from = position
        let passed = take { $0.roll == .mid && $0.position >= from && $0.position <= target }
        guard let last = passed.last else { return [] }
        let effects = begin([last], resumingAt: max(last.resumePosition ?? target, 0), now)
        return effects.map { [.pauseContent] + $0 } ?? []
    }

    /// Removes the breaks that satisfy a condition.
    private mutating func take(_ condition: (Break) -> Bool) -> [Break] {
        let taken = waiting.filter(condition)
        waiting.removeAll(where: condition)
        return taken
    }

    /// Begins breaks as one; nil without an ad.
    private mutating func begin(_ breaks: [Break], resumingAt resume: Int64, _ now: MonotonicInstant) -> [Effect]? {
        let ads = breaks.flatMap(\.ads)
        guard let roll = breaks.first?.roll, !ads.isEmpty else { return nil }
        let position = roll == .pre ? breaks.last?.resumePosition ?? resume : resume
        current = Current(
            roll: roll,
            resumePosition: position,
            ads: ads[...],
            fallbacks: breaks.flatMap(\.fallbacks)[...]
        )
        return [.beginBreak(roll, requested: ads.count)] + next(now)
    }

    /// The next ad, or the end of the break.
    private mutating func next(_ now: MonotonicInstant) -> [Effect] {
        deadline = nil
        guard let ad = current?.ads.popFirst() else { return finish() }
        return play(ad, now)
    }

    private mutating func play(_ ad: ResolvedAd, _ now: MonotonicInstant) -> [Effect] {
        current?.isStarted = false
        deadline = now.advanced(by: startTimeout)
        return [.play(ad)]
    }

    private mutating func fail(_ code: VASTErrorCode, _ now: MonotonicInstant) -> [Effect] {
        guard let current else { return [] }
        // An ad that has shown a part is not replaced.
        if !current.isStarted, let substitute = self.current?.fallbacks.popFirst() {
            return [.stop(code)] + play(substitute, now)
        }
        return [.stop(code)] + next(now)
    }

    private mutating func finish() -> [Effect] {
        guard let ended = current else { return [] }
        current = nil
        if ended.roll == .post { return [.endBreak, .end] }
        position = ended.resumePosition
        return [.endBreak, .playContent(from: ended.resumePosition)]
    }
}

/// Finds the signals that the playhead reaches, each once until the playhead moves back.
package struct AdSignalCursor: Hashable, Sendable {
    private let signals: [AdSignal]
    private var next = 0

    /// Creates a cursor over signals; those without a position are left out.
    package init(_ signals: [AdSignal]) {
        self.signals = signals.filter { $0.position != nil }.enumerated()
            .sorted { ($0.element.position ?? 0, $0.offset) < ($1.element.position ?? 0, $1.offset) }.map(\.element)
    }

    /// The signals from the playhead's last position up to `position`, in nanoseconds, in order.
    package mutating func advance(to position: Int64) -> [AdSignal] {
        let start = next
        while next < signals.count, signals[next].position ?? .max <= position { next += 1 }
        return Array(signals[start..<next])
    }

    /// The playhead jumped to `position`: the signals in between are not reported, those behind it are, again.
    package mutating func seek(to position: Int64) {
        next = signals.firstIndex { $0.position ?? .max >= position } ?? signals.count
    }
}
