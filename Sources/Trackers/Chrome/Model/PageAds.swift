internal import Instrument

/// The ads of one content element: a value that turns the news of the page's players into the actions of the ads hub.
///
/// Of several tellers of one break, the one that tells most counts: the IMA SDK before the player that contains it.
struct PageAds: Sendable {
    /// An action and what is known of its ad.
    struct Output: Hashable, Sendable {
        var action: Action
        var attributes: Attributes
    }

    /// Two tellers report one failure within this time.
    private static let sameFailure = Duration.seconds(2)

    private var sequence = AdSequence()
    private var teller: AdNews.Teller?
    private(set) var place = AdNews.Place.other
    private var facts = AdFacts()
    /// The break was opened by an ad, and closes with the last one of its pod.
    private var isBreakImplied = false
    /// An ad that begins with the element's next picture.
    private var isAwaitingPicture = false
    private var latestFailure: (MonotonicInstant, AdNews.Teller)?
    /// The address of the media of the latest ad.
    private(set) var address: String?
    private var outputs: [Output] = []

    var isInBreak: Bool { sequence.isInBreak }
    var isInAd: Bool { sequence.isInAd }
    var isPostroll: Bool { facts.roll == .post }

    // MARK: - What the page's players say

    mutating func take(_ news: AdNews, at now: MonotonicInstant) -> [Output] {
        guard let isSameAd = admit(news, at: now) else { return [] }
        if news.kind == .start, !isSameAd {
            // An ad whose end was not reported ends with its own description.
            emit(sequence.finishAd())
            facts = AdFacts(of: facts.roll)
        }
        if let known = news.facts.address { address = known }
        // The next ad of a pod is loaded while the present one plays.
        if !(news.kind == .loaded && sequence.isInAd) { facts.add(news.facts) }
        if news.kind == .error { latestFailure = (now, news.teller) }
        let wasInBreak = isInBreak
        apply(news, isSameAd: isSameAd)
        if isInBreak, !wasInBreak || teller == news.teller { (teller, place) = (news.teller, news.place) }
        return takeOutputs()
    }

    /// Whether news count: nil if not, true if they are of an ad of which another one has told.
    private mutating func admit(_ news: AdNews, at now: MonotonicInstant) -> Bool? {
        if news.kind == .error, let (instant, teller) = latestFailure, teller != news.teller,
            instant.duration(to: now) < Self.sameFailure
        {
            return nil
        }
        guard isInBreak, let teller, teller != news.teller else { return false }
        let isRicher = news.teller.source.rank > teller.source.rank
        let isNext = news.teller.source == teller.source && news.kind == .start
        guard isRicher || isNext, news.kind != .loaded else { return nil }
        self.teller = news.teller
        return isRicher && sequence.isInAd
    }

    private mutating func apply(_ news: AdNews, isSameAd: Bool) {
        switch news.kind {
        case .loaded: break
        case .breakBegin:
            isBreakImplied = false
            emit(sequence.beginBreak())
        case .breakFinish: finishBreak()
        case .start: if !isSameAd { begin(news) }
        case .firstQuartile: emit(sequence.reach(quartile: 1))
        case .midpoint: emit(sequence.reach(quartile: 2))
        case .thirdQuartile: emit(sequence.reach(quartile: 3))
        case .complete: finishAd { $0.reach(quartile: 3) + $0.finishAd() }
        case .stop: finishAd { $0.finishAd() }
        case .skip: finishAd { $0.finishAd(isSkipped: true) }
        case .pause: emit(sequence.beginPause())
        case .resume: emit(sequence.finishPause())
        case .click: emit([.adClick])
        case .wait: emit(sequence.beginBuffering())
        case .flow: emit(sequence.finishBuffering())
        case .error: fail(news)
        }
    }

    private mutating func begin(_ news: AdNews) {
        if !isInBreak { isBreakImplied = true }
        // The ad's media are attached next, in place of the content's.
        isAwaitingPicture = news.teller.source == .hls && news.place == .element
        emit(isAwaitingPicture ? sequence.beginBreak() : sequence.beginAd())
    }

    private mutating func fail(_ news: AdNews) {
        emit([.adError], attributes: news.failure.attributes)
        if news.failure.isFatal { finishBreak() }
    }

    private mutating func finishAd(_ finish: (inout AdSequence) -> [Action]) {
        isAwaitingPicture = false
        let wasInAd = isInAd
        emit(finish(&sequence))
        if wasInAd, isBreakImplied, facts.isLast != false { finishBreak() }
    }

    private mutating func finishBreak() {
        (isAwaitingPicture, isBreakImplied) = (false, false)
        emit(sequence.finishBreak())
    }

    // MARK: - What the elements show

    /// Pictures of the ad move.
    mutating func moves() -> [Output] {
        if isAwaitingPicture { emit(sequence.beginAd()) }
        isAwaitingPicture = false
        emit(sequence.finishBuffering())
        return takeOutputs()
    }

    /// The ad waits for data.
    mutating func stands() -> [Output] {
        emit(sequence.beginBuffering())
        return takeOutputs()
    }

    mutating func pause() -> [Output] {
        emit(sequence.beginPause())
        return takeOutputs()
    }

    mutating func resume() -> [Output] {
        emit(sequence.finishPause())
        return takeOutputs()
    }

    /// Nothing more comes of the break.
    mutating func close() -> [Output] {
        finishBreak()
        return takeOutputs()
    }

    // MARK: - Output

    private mutating func emit(_ actions: [Action], attributes added: Attributes = Attributes()) {
        for action in actions {
            var attributes = facts.status.attributes
            attributes.merge(added)
            outputs.append(Output(action: action, attributes: attributes))
        }
    }

    private mutating func takeOutputs() -> [Output] {
        defer { outputs = [] }
        if !isInBreak { (teller, facts) = (nil, AdFacts()) }
        return outputs
    }
}

extension AdFacts {
    /// An ad of which only its break is known.
    fileprivate init(of roll: AdRoll?) { self.roll = roll }
}
