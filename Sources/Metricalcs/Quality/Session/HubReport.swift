internal import Instrument

/// The state that the hub reported with the latest event of a session. The hub's next report shows which events are
/// missing between the two.
struct HubReport: Hashable, Sendable {
    /// Blocks of ads; nil until an event of the session reports them: a break can be older than the session.
    var isInAdBreak: Bool?
    var isInAd: Bool?
    /// The number of ads by the content's tracker, and by the latest tracker of ads; nil until an event reports it.
    private var contentAdCount: Int?
    private var adTracker: TrackerID?
    private var trackerAdCount: Int?
    /// The largest number of ads that one event shows to be missing: a larger difference is not counted.
    static let mostMissedAds = 100
    /// The reading of the latest event of the content's tracker.
    var reading: HubReading?
    /// When the pause and the seek began that are open now.
    var pausedSince: MonotonicInstant?
    var seekingSince: MonotonicInstant?
    /// The losses that concern the core metrics.
    var core = CoreLosses()

    /// Remembers the state after an event was applied.
    ///
    /// - Parameter reading: the state of the content; nil for an event of a tracker of ads.
    mutating func note(_ event: Event, reading: HubReading?, phase: SessionPhase, at now: MonotonicInstant) {
        if let block = event[.inAdBreakBlock] { isInAdBreak = block }
        if let block = event[.inAdBlock] { isInAd = block }
        noteAds(event, isOfContent: reading != nil)
        guard let reading else { return }
        self.reading = reading
        noteSpans(phase, at: now)
    }

    private mutating func noteAds(_ event: Event, isOfContent: Bool) {
        guard let count = event[.countAds] else { return }
        if isOfContent {
            contentAdCount = count
        } else {
            (adTracker, trackerAdCount) = (event.tracker, count)
            if event.action == .adBegin { contentAdCount = contentAdCount?.saturatingAdd(1) }
        }
    }

    /// Counts an ad that was missing.
    mutating func noteMissedAd() {
        contentAdCount = contentAdCount?.saturatingAdd(1)
        trackerAdCount = trackerAdCount?.saturatingAdd(1)
    }

    /// The number of ads that began between the latest event and `event`, by the count of the event's tracker; nil
    /// without counts.
    func missedAds(before event: Event) -> Int? {
        let isOfContent = event[.isAdsTracker] != true
        let known = isOfContent ? contentAdCount : adTracker == event.tracker ? trackerAdCount : nil
        guard let known, let count = event[.countAds] else { return nil }
        let missed = count.saturatingSubtract(known).saturatingSubtract(event.action == .adBegin ? 1 : 0)
        return missed <= Self.mostMissedAds ? max(0, missed) : 0
    }

    /// Remembers when the open pause and the open seek began.
    mutating func noteSpans(_ phase: SessionPhase, at now: MonotonicInstant) {
        pausedSince = phase.isPaused ? pausedSince ?? now : nil
        seekingSince = phase.isSeeking ? seekingSince ?? now : nil
    }
}

/// An event that a session misses, and when it happened.
struct LostEvent: Hashable, Sendable {
    var action: Action
    /// Whole milliseconds on the session's clock.
    var milliseconds: Int64
}

/// One kind of interruption that the hub reports as a block, with the sum of its finished times.
struct HubSpan {
    var begin: Action
    var finish: Action
    /// The block after the event.
    var block: Bool?
    /// When the open interruption began, by the events so far; nil if none is open.
    var openSince: MonotonicInstant?
    /// The sum before and after the events that are missing, and the event itself.
    var sumBefore: Int?
    var sumAfter: Int?

    /// Whether no event is missing before `event`, at the cost of a few comparisons. False does not mean that one is.
    func isComplete(before event: Event) -> Bool {
        guard let block else { return true }
        if event.action == finish { return false }
        return (event.action != begin && block) == (openSince != nil) && growth == 0
    }

    /// The growth of the sum with the events that are missing, and the event itself.
    private var growth: Int { max(0, (sumAfter ?? 0).saturatingSubtract(sumBefore ?? sumAfter ?? 0)) }

    /// The events that are missing before `event`.
    ///
    /// The block says whether the last change is missing, the sum says how long finished interruptions were, and the
    /// attributes `timeSince…` say when the latest one began and finished. Without them, a change counts from the first
    /// event that reports it.
    func lost(before event: Event, after last: MonotonicInstant) -> [LostEvent] {
        guard let block else { return [] }
        let isFinish = event.action == finish
        let isOpenBefore = isFinish || (event.action != begin && block)
        let growth = self.growth
        switch (openSince?.milliseconds, isOpenBefore) {
        case (nil, false):
            return growth > 0 ? Clues(self, event, last).whole(of: growth) : []
        case (let since?, false):
            let clues = Clues(self, event, last)
            let isProven = growth > 0 || (clues.finish ?? .min) >= since
            // A hub may clear its blocks with the end of a playback.
            return event.endsSession && !isProven ? [] : clues.finish(since, growth)
        case (nil, true):
            return Clues(self, event, last).begin(growth, isFinished: isFinish)
        case (let since?, true):
            if isFinish {
                guard let began = event.instant(of: begin), began > since else { return [] }
                let clues = Clues(self, event, last)
                return clues.again(
                    since,
                    max(0, growth.saturatingSubtract(Int(clamping: clues.now.saturatingSubtract(began))))
                )
            }
            return growth > 0 ? Clues(self, event, last).again(since, growth) : []
        }
    }

    /// What an event tells about the changes before it.
    private struct Clues {
        let span: HubSpan
        let now: Int64
        /// When the latest interruption began, by the event.
        let latestBegin: Int64?
        /// When the latest interruption began and finished; nil if that was before the latest event that is known.
        let begin: Int64?
        let finish: Int64?

        init(_ span: HubSpan, _ event: Event, _ last: MonotonicInstant) {
            self.span = span
            now = event.time.instant.milliseconds
            latestBegin = event.instant(of: span.begin)
            begin = latestBegin.flatMap { $0 >= last.milliseconds ? $0 : nil }
            finish = event.instant(of: span.finish).flatMap { $0 >= last.milliseconds ? $0 : nil }
        }

        private func begins(_ milliseconds: Int64) -> LostEvent {
            LostEvent(action: span.begin, milliseconds: milliseconds)
        }
        private func ends(_ milliseconds: Int64) -> LostEvent {
            LostEvent(action: span.finish, milliseconds: milliseconds)
        }

        /// Interruptions of which neither the begin nor the finish is known.
        func whole(of growth: Int) -> [LostEvent] {
            let end = finish ?? now
            guard let begin, begin <= end else { return [begins(end.saturatingSubtract(Int64(growth))), ends(end)] }
            let earlier = growth.saturatingSubtract(Int(clamping: end.saturatingSubtract(begin)))
            if earlier <= 0 { return [begins(begin), ends(end)] }
            return [begins(begin.saturatingSubtract(Int64(earlier))), ends(begin), begins(begin), ends(end)]
        }

        /// The finish of the open interruption; others may follow it.
        func finish(_ since: Int64, _ growth: Int) -> [LostEvent] {
            if let finish, let begin, begin > since, begin <= finish {
                let first = growth.saturatingSubtract(Int(clamping: finish.saturatingSubtract(begin)))
                return [
                    ends(first > 0 ? min(begin, since.saturatingAdd(Int64(first))) : begin), begins(begin),
                    ends(finish),
                ]
            }
            return [ends(finish ?? (growth > 0 ? min(now, since.saturatingAdd(Int64(growth))) : now))]
        }

        /// The begin of an interruption that is open before the event; others may precede it.
        func begin(_ growth: Int, isFinished: Bool) -> [LostEvent] {
            let begin = begin ?? (isFinished ? now.saturatingSubtract(Int64(growth)) : now)
            let earlier = isFinished ? growth.saturatingSubtract(Int(clamping: now.saturatingSubtract(begin))) : growth
            guard earlier > 0, let finish, finish <= begin else { return [begins(begin)] }
            return [begins(finish.saturatingSubtract(Int64(earlier))), ends(finish), begins(begin)]
        }

        /// The finish of the open interruption and the begin of the next one.
        func again(_ since: Int64, _ growth: Int) -> [LostEvent] {
            let next = begin ?? latestBegin
            let end = finish ?? (growth > 0 ? min(now, since.saturatingAdd(Int64(growth))) : next ?? now)
            return [ends(end), begins(max(end, next ?? end))]
        }
    }
}

extension Event {
    /// When the tracker's latest `action` happened, by the time attribute of this event.
    func instant(of action: Action) -> Int64? {
        guard let age = self[action.timeKey], age >= 0 else { return nil }
        return time.instant.milliseconds.saturatingSubtract(Int64(age))
    }
}
