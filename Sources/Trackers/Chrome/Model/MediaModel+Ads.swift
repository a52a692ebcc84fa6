internal import Instrument

/// Ads of a page's player: the content neither stalls, stops nor ends while they play.
extension MediaModel {
    /// Whose media the element has.
    enum Occupant: Hashable, Sendable {
        case content
        /// An ad, in place of the content's media.
        case ad
        /// The content's media come back; whether they load already.
        case returning(isLoading: Bool)
    }

    /// Whether a break is open whose ads are in another element.
    var hasAdElsewhere: Bool { ads.isInBreak && ads.place == .other }

    // MARK: - News

    /// Takes news of ads.
    ///
    /// - Parameter isReset: whether the element that reports them is at its begin, as without media.
    mutating func take(_ news: AdNews, isReset: Bool, at now: MonotonicInstant) {
        let (wasInBreak, wasPostroll) = (ads.isInBreak, ads.isPostroll)
        let outputs = ads.take(news, at: now)
        if ads.isInBreak, !wasInBreak {
            isHeldByAds = figures.isPaused
            // Ads before the content are the begin of its playback.
            if phase == .idle || phase == .prepared { request(at: now) }
        }
        emit(outputs, at: now)
        guard wasInBreak, !ads.isInBreak else { return }
        // An ad that cannot be loaded takes the element and gives it back before the element says so.
        if occupant == .content, isReset, news.place == .element { leave(at: now) }
        breakEnded(isPostroll: wasPostroll, at: now)
    }

    /// The content's media leave the element for an ad.
    private mutating func leave(at now: MonotonicInstant) {
        (occupant, isMoving) = (.ad, false)
        if phase == .playing { emit(interruptions.pause(isReported: true), at: now) }
    }

    private mutating func breakEnded(isPostroll: Bool, at now: MonotonicInstant) {
        let isAway = occupant == .ad
        // A break may begin and end before the content of the one before has come back.
        if occupant != .content { occupant = .returning(isLoading: false) }
        guard phase == .playing, hasEndedInBreak || isAway && isPostroll else { return }
        finish(.end, at: now)
    }

    /// An ad in another element waits for data, or moves.
    mutating func adElement(isWaiting: Bool, at now: MonotonicInstant) -> [PlayerSignal] {
        emit(isWaiting ? ads.stands() : ads.moves(), at: now)
        return signals.take()
    }

    // MARK: - The element

    /// Takes what an element reports around and in a break. Returns whether it says nothing of the content.
    mutating func isOfAds(_ observation: MediaObservation, at now: MonotonicInstant) -> Bool {
        switch occupant {
        case .content: ads.isInBreak && isOfBreak(observation, at: now)
        case .ad: isOfAd(observation, at: now)
        case .returning(let isLoading): isOfReturn(observation, isLoading, at: now)
        }
    }

    /// The content is in the element, and a break is open.
    private mutating func isOfBreak(_ observation: MediaObservation, at now: MonotonicInstant) -> Bool {
        switch observation.kind {
        // The media of an ad take the place of the content's, or the page loads the content while its ads play.
        case .emptied where ads.place == .element:
            leave(at: now)
            return true
        case .emptied: return phase == .loading
        case .stands where ads.place != .other && ads.isInAd:
            isMoving = false
            emit(ads.stands(), at: now)
            return true
        case .moves where ads.place != .other: emit(ads.moves(), at: now)
        // Content that the ads held, and that plays on, has left its ads behind.
        case .moves where isHeldByAds && !observation.figures.isPaused: emit(ads.close(), at: now)
        case .pause where ads.place == .other: isHeldByAds = true
        case .pause where !observation.figures.isEnded: emit(ads.pause(), at: now)
        case .play where ads.place != .other: emit(ads.resume(), at: now)
        // The stream ends with the ads behind the content.
        case .ended where ads.place != .other:
            hasEndedInBreak = true
            return true
        default: break
        }
        return false
    }

    private mutating func isOfAd(_ observation: MediaObservation, at now: MonotonicInstant) -> Bool {
        switch observation.kind {
        case .moves: emit(ads.moves(), at: now)
        case .stands: emit(ads.stands(), at: now)
        case .pause where !observation.figures.isEnded: emit(ads.pause(), at: now)
        case .play: emit(ads.resume(), at: now)
        case .left, .removed, .gone: return false
        default: break
        }
        return true
    }

    private mutating func isOfReturn(
        _ observation: MediaObservation,
        _ isLoading: Bool,
        at now: MonotonicInstant
    ) -> Bool {
        switch observation.kind {
        case .loadstart where !isLoading: occupant = .returning(isLoading: true)
        // The next ad comes before the content's first picture.
        case .emptied where ads.isInBreak && ads.place == .element: occupant = .ad
        case .emptied where !isLoading: break
        case .moves where !observation.figures.isPaused:
            occupant = .content
            emit(interruptions.resume(), at: now)
            return false
        case .loadstart, .joined, .emptied, .ended, .error, .left, .removed, .gone:
            occupant = .content
            return false
        default: break
        }
        return true
    }

    // MARK: - Output

    /// Ends the break with the playback of its content.
    mutating func closeAds(at now: MonotonicInstant) {
        emit(ads.close(), at: now)
        (occupant, hasEndedInBreak) = (.content, false)
    }

    private mutating func emit(_ outputs: [PageAds.Output], at instant: MonotonicInstant) {
        for output in outputs {
            let instant = signals.instant(for: instant)
            let status = status(at: instant)
            signals.add(
                PlayerSignal(output.action, at: instant, status: status, attributes: output.attributes),
                at: instant
            )
        }
    }
}
