internal import Instrument
internal import InstrumentAds
internal import InstrumentHTTP

/// Which breaks the content has, from all origins: interstitials and alternative presentations of the stream, and the
/// breaks of an ad server's document. One ``InterstitialSchedule`` places all of them.
struct AdPlan: Sendable {
    /// A break of an ad server's document.
    struct Served: Hashable, Sendable {
        var adBreak: AdBreak
        var url: HTTPURL
    }

    /// A break with its place in the content.
    struct Break: Hashable, Sendable {
        var roll: AdRoll
        /// The interstitials of the break, in order.
        var opportunities: [Interstitial]
        /// Where the content is left.
        var position: Int64
        /// How much of the first interstitial is over: the playback joins in its middle.
        var joinOffset: Int64
    }

    /// Content without a known duration is taken to be this long.
    private static let endless: Int64 = 1 << 60
    /// The repetitions of all breaks of a document together.
    private static let mostRepetitions = 500
    /// How many signals of segments are remembered: a stream that plays for months carries more than there is memory
    /// for.
    private static let mostCarried = 2_000

    /// What the stream says: its latest manifest, and the latest signals of its segments.
    private(set) var stream = StreamAds()
    private var listed = StreamAds()
    /// The signals of segments, in the order of their arrival.
    private var carried: [AdSignal] = []
    private var known: Set<AdSignal> = []
    /// The breaks that the stream has marked, for `#n` of a document.
    private var marks = MarkedBreaks()
    /// Where the playback joined; nil before that.
    private var joined: Int64?
    /// The breaks of the document.
    private var served: [Served] = []
    /// The breaks of the document that were reported to have no place, by their numbers.
    private var withoutPlace: Set<Int> = []
    /// The known media, by the identifier of the interstitial.
    private(set) var media: [String: InterstitialSchedule.Media] = [:]
    private(set) var selections: [String: AdSelection] = [:]
    /// The interstitials that have played or that the playhead has passed.
    private var passed: Set<String> = []
    private var playedOnce: Set<String> = []
    private let playsInterstitials: Bool

    /// Begins the identifiers of breaks of the document. No identifier of a stream can begin so.
    private let prefix: String

    /// - Parameter id: identifies the playback.
    init(playsInterstitials: Bool, id: String) {
        (self.playsInterstitials, prefix) = (playsInterstitials, "break-\(id).")
    }

    /// Adopts what the stream says.
    mutating func take(_ ads: StreamAds) {
        if ads.addsSignals {
            carried += ads.signals.filter { known.insert($0).inserted }
            if carried.count > Self.mostCarried {
                for forgotten in carried.prefix(carried.count - Self.mostCarried) { known.remove(forgotten) }
                carried.removeFirst(carried.count - Self.mostCarried)
            }
        } else {
            listed = ads
        }
        stream = listed
        stream.signals += carried
        marks.add(ads.signals)
    }

    /// The playback joins the stream here. In a live stream, `#n` of a document counts the breaks from here on.
    mutating func join(at position: Int64) { joined = position }

    /// Adopts the breaks of a document.
    mutating func take(_ document: VMAPDocument, at url: HTTPURL) {
        served = document.breaks.filter { $0.kinds.contains(.linear) }.map { Served(adBreak: $0, url: url) }
    }

    /// Adopts a VAST response, whose ads play before the content.
    mutating func take(_ selection: AdSelection, at url: HTTPURL) {
        served = [Served(adBreak: .preRoll, url: url)]
        take(selection, of: id(of: 0))
    }

    /// Adopts the ads of a break.
    mutating func take(_ selection: AdSelection, of id: String) {
        selections[id] = selection
        guard let url = served(by: id)?.url else { return }
        media[id] = .assets(selection.ads.map { InterstitialAsset(url: url, duration: $0.linear?.duration ?? 0) })
    }

    mutating func take(_ found: InterstitialSchedule.Media, of id: String) { media[id] = found }

    /// The breaks of the document that a live stream gives no place, each once: nobody knows its duration.
    mutating func takeBreaksWithoutPlace() -> [AdFailure] {
        guard stream.isLive else { return [] }
        return served.enumerated().compactMap { number, served in
            guard served.adBreak.role(in: nil) == "mid", case .offset(.percent) = served.adBreak.time,
                withoutPlace.insert(number).inserted
            else { return nil }
            let message =
                "the break at \(served.adBreak.time.text) has no place in a live stream, whose duration is unknown; "
                + "give the ad server's break a time or the number of a marked break (#1)"
            return AdFailure(.undefined, message, urls: served.adBreak.errorURLs)
        }
    }

    /// The breaks of the document that lie behind the end of the content, each once.
    mutating func takeBreaksBehindEnd(of duration: Int64?) -> [AdBreak] {
        guard !stream.isLive else { return [] }
        return served.enumerated().compactMap { number, served in
            guard served.adBreak.isBehindEnd(of: duration), withoutPlace.insert(number).inserted else { return nil }
            return served.adBreak
        }
    }

    /// The breaks of the document whose number is beyond the breaks that content on demand has marked, each once
    /// (`#n`; VMAP 1.0, section 2.3.3). Known at the end of the content: its segments may mark breaks, too.
    mutating func takeBreaksWithoutMark() -> [AdBreak] {
        guard !stream.isLive else { return [] }
        return served.enumerated().compactMap { number, served in
            guard case .position(let mark) = served.adBreak.time, mark > countedMarks.count,
                withoutPlace.insert(number).inserted
            else { return nil }
            return served.adBreak
        }
    }

    /// The break of a document that an interstitial stands for.
    func served(by id: String) -> Served? {
        guard id.hasPrefix(prefix), let number = Int(id.dropFirst(prefix.count).prefix { $0 != "." }),
            served.indices.contains(number)
        else { return nil }
        return served[number]
    }

    /// Whether the ads of an interstitial have still to be requested.
    func isUnknown(_ interstitial: Interstitial) -> Bool {
        guard media[interstitial.id] == nil else { return false }
        if case .list = interstitial.source { return true }
        return false
    }

    /// The playhead has played a break.
    mutating func finish(_ interstitials: [Interstitial]) {
        for interstitial in interstitials {
            passed.insert(interstitial.id)
            if interstitial.cue.contains(.once) { playedOnce.insert(interstitial.id) }
            // The next time, the ads are requested again; those of a break that plays once are not needed any more.
            (media[interstitial.id], selections[interstitial.id]) = (nil, nil)
        }
    }

    /// The person has moved the playhead: breaks behind the target play again, unless they play once.
    mutating func seek(to target: Int64, duration: Int64?) {
        passed.formIntersection(
            opportunities(from: target, duration).filter {
                $0.start < target || !$0.cue.isDisjoint(with: [.pre, .post])
            }.map(\.id)
        )
    }
}

// MARK: Places
extension AdPlan {
    private func id(of number: Int) -> String { prefix + String(number) }

    /// The next break at a position or behind it.
    func next(from position: Int64, duration: Int64?, isJoining: Bool) -> Break? {
        let waiting = opportunities(from: position, duration).filter {
            !passed.contains($0.id) && !playedOnce.contains($0.id)
        }
        guard let first = schedule(waiting, from: position, duration, isJoining).breaks.first else { return nil }
        let byID = Dictionary(waiting.map { ($0.id, $0) }) { first, _ in first }
        let group = first.interstitials.compactMap { byID[$0] }
        guard let cue = group.first?.cue else { return nil }
        let roll: AdRoll = cue.contains(.pre) ? .pre : cue.contains(.post) ? .post : .mid
        return Break(
            roll: roll,
            opportunities: group,
            position: roll == .post ? PlaybackMarker.endPosition : first.position,
            joinOffset: roll == .mid ? max(0, first.joinOffset) : 0
        )
    }

    /// The breaks between two positions that the person must not jump over. Of an ad server's breaks, only the last one
    /// plays.
    func restricted(after position: Int64, upTo target: Int64, duration: Int64?) -> [Interstitial] {
        let found = opportunities(from: position, duration).filter {
            $0.restrictions.contains(.jump) && $0.cue.isDisjoint(with: [.pre, .post]) && !passed.contains($0.id)
                && $0.start > position && $0.start <= target
        }.sorted { $0.start < $1.start }
        let last = found.last { served(by: $0.id) != nil }
        return found.filter { served(by: $0.id) == nil || $0.start == last?.start }
    }

    /// Where content resumes after a break whose interstitials have played for these times.
    func resumePosition(of finished: Break, played: [String: Int64], duration: Int64?) -> Int64 {
        guard finished.roll != .post else { return PlaybackMarker.endPosition }
        var media: [String: InterstitialSchedule.Media] = [:]
        for interstitial in finished.opportunities {
            let time = played[interstitial.id] ?? 0
            media[interstitial.id] =
                time > 0 ? .assets([InterstitialAsset(url: interstitial.address, duration: time)]) : .failed
        }
        let result = InterstitialSchedule(
            finished.opportunities,
            media: media,
            contentDuration: contentDuration(duration),
            boundaries: stream.boundaries,
            from: finished.position,
            isJoining: finished.roll == .pre
        )
        return result.breaks.first?.resumePosition ?? finished.position
    }

    private func schedule(
        _ interstitials: [Interstitial],
        from position: Int64,
        _ duration: Int64?,
        _ isJoining: Bool
    ) -> InterstitialSchedule {
        InterstitialSchedule(
            interstitials,
            media: media,
            contentDuration: contentDuration(duration),
            boundaries: stream.boundaries,
            from: position,
            isJoining: isJoining
        )
    }

    private func contentDuration(_ duration: Int64?) -> Int64 {
        stream.isLive ? stream.end ?? Self.endless : duration ?? stream.end ?? Self.endless
    }

    /// All interstitials, those of the document in the form of the stream's.
    /// - Parameter position: repetitions of a break in a live stream are planned from here to the stream's known end.
    private func opportunities(from position: Int64, _ duration: Int64?) -> [Interstitial] {
        let own = playsInterstitials ? stream.interstitials : []
        let range = stream.isLive ? position...max(position, stream.end ?? position) : 0...max(0, duration ?? 0)
        var room = Self.mostRepetitions
        let ofDocument = served.enumerated().flatMap { number, served in
            let places = places(of: served.adBreak, stream.isLive ? nil : duration, repeatedIn: range, upTo: room)
            room -= max(0, places.count - 1)
            return places.map { place in
                let id = id(of: number) + (place.repetition > 0 ? ".\(place.repetition)" : "")
                var made = Interstitial(served: id, at: place.position, cue: place.cue, url: served.url)
                // A live playback keeps its latency.
                if stream.isLive { made.resumeOffset = nil }
                return made
            }
        }
        return own + ofDocument
    }

    /// The positions of the breaks that the content marks, in order. In a live stream, those that count are behind the
    /// position at which the playback joined: nobody knows how many there were before.
    private var countedMarks: ArraySlice<Int64> {
        let positions = marks.positions
        guard stream.isLive, let joined else { return positions[...] }
        return positions[positions.partitioningIndex { $0 >= joined }...]
    }

    /// A place at which a break of a document plays.
    private struct Place {
        var position: Int64
        var cue: Interstitial.Cue = []
        var repetition: Int64 = 0
    }

    /// Where a break of a document plays: once, or again and again.
    private func places(
        of adBreak: AdBreak,
        _ duration: Int64?,
        repeatedIn range: ClosedRange<Int64>,
        upTo most: Int
    ) -> [Place] {
        let role = adBreak.role(in: duration)
        switch role {
        case "pre" where adBreak.repeatAfter == nil: return [Place(position: 0, cue: .pre)]
        case "post": return [Place(position: 0, cue: .post)]
        default: break
        }
        guard let start = adBreak.time.nanoseconds(of: duration, marks: Array(countedMarks)) else { return [] }
        var places = [Place(position: start, cue: role == "pre" ? .pre : [])]
        guard let period = adBreak.repeatAfter, period > 0 else { return places }
        let first = max(1, range.lowerBound.saturatingSubtract(start) / period)
        var next = Place(position: start.saturatingAdd(period.saturatingMultiply(first)), repetition: first)
        while next.position < range.upperBound, places.count <= most {
            places.append(next)
            next = Place(position: next.position.saturatingAdd(period), repetition: next.repetition + 1)
        }
        return places
    }
}
