/// The state machine of content with ads: the ads table first, then the core table.
///
/// An ad break belongs to a content tracker and is shared by the ad trackers that serve it. `Stop` and `Next` are legal
/// in a break and leave it open: it closes with its own `AdBreakFinish`.
public struct AdsHub: Hub, Hashable {
    private var core = CoreHub()
    private var breaks = TrackerTable<AdState>()
    private var adCounts = TrackerTable<Int>()

    /// Creates a hub that has seen nothing.
    public init() {}

    /// Judges an event by the ads table, then by the core table, and adds blocks and counts of ads.
    ///
    /// An event without `position` gets the content's, as the content tracker's getter gives it.
    public mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict {
        let content = context.content
        let before = breaks[content, default: AdState()]
        var after = before
        if let rejection = after.apply(event) { return .rejected(rejection) }
        if case .rejected(let rejection) = core.process(&event, in: &context) { return .rejected(rejection) }

        if after != before { breaks[content, default: after] = after }
        if event.action == .adBegin { countAd(of: event.tracker, in: content) }
        changePings(from: before, to: after, in: &context)
        event[.inAdBreakBlock] = after.inAdBreak
        event[.inAdBlock] = after.ad != nil
        event[.countAds] = adCounts[event.tracker, default: 0]
        // Values of the caller have precedence: the content's position is added only to events without one.
        if event.attributes[AttributeKey<Duration>.position.name] == nil {
            event[.position] = context.value(of: .position, from: content)
        }
        return .accepted
    }

    /// Keeps nothing of a removed tracker; an open ad of that tracker ends with it.
    public mutating func forget(_ tracker: TrackerID) {
        core.forget(tracker)
        breaks.remove(tracker)
        adCounts.remove(tracker)
        breaks.forEachValue { state in
            if state.ad?.tracker == tracker { state.ad = nil }
        }
    }

    /// An ad counts for the tracker that reports it and for the content that it interrupts.
    private mutating func countAd(of tracker: TrackerID, in content: TrackerID) {
        for counted in Set([tracker, content]) { adCounts[counted, default: 0] += 1 }
    }

    private func changePings(from before: AdState, to after: AdState, in context: inout HubContext) {
        guard before.ad?.tracker != after.ad?.tracker else { return }
        // An ad that the content's own tracker reports must not end the content's pings.
        if let ended = before.ad?.tracker, ended != context.content { context.stopPings(of: ended) }
        if let begun = after.ad?.tracker, begun != context.content { context.startPings(of: begun) }
    }
}

/// The ads hub's state of one content tracker and its ad trackers.
struct AdState: Hashable {
    struct Ad: Hashable {
        var tracker: TrackerID
        var isPaused = false
        var isBuffering = false
        var quartiles = 0
    }

    var inAdBreak = false
    var ad: Ad?

    /// Applies the ads table's row; returns why the event is illegal, in which case nothing may be kept.
    mutating func apply(_ event: Event) -> Rejection? {
        switch event.action {
        case .adBreakBegin:
            guard !inAdBreak else { return .alreadyDone }
            inAdBreak = true
        case .adBreakFinish:
            guard inAdBreak else { return .notInAdBreak }
            self = AdState()
        case .adBegin:
            guard inAdBreak else { return .notInAdBreak }
            guard ad == nil else { return .alreadyDone }
            ad = Ad(tracker: event.tracker)
        case .adFinish:
            guard ad != nil else { return .notInAd }
            ad = nil
        case .adPauseBegin: return begin(\.isPaused)
        case .adPauseFinish: return finish(\.isPaused)
        case .adBufferBegin: return begin(\.isBuffering)
        case .adBufferFinish: return finish(\.isBuffering)
        case .adFirstQuartile: return reach(1)
        case .adSecondQuartile: return reach(2)
        case .adThirdQuartile: return reach(3)
        case .adSkip: return ad == nil ? .notInAd : nil
        case .end: return inAdBreak ? .inAdBreak : nil
        default: break
        }
        return nil
    }

    private mutating func begin(_ flag: WritableKeyPath<Ad, Bool>) -> Rejection? {
        guard let current = ad else { return .notInAd }
        if current[keyPath: flag] { return .alreadyDone }
        ad?[keyPath: flag] = true
        return nil
    }

    private mutating func finish(_ flag: WritableKeyPath<Ad, Bool>) -> Rejection? {
        guard let current = ad else { return .notInAd }
        guard current[keyPath: flag] else { return .notBegun }
        ad?[keyPath: flag] = false
        return nil
    }

    private mutating func reach(_ quartile: Int) -> Rejection? {
        guard let current = ad else { return .notInAd }
        if current.quartiles >= quartile { return .alreadyDone }
        if current.quartiles < quartile - 1 { return .outOfOrder }
        ad?.quartiles = quartile
        return nil
    }
}
