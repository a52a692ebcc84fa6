internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentRules

/// What a check waits for.
private enum Arrival: Sendable {
    case segments(SegmentBatch)
    /// The playlist of the rendition at a place.
    case playlist(Int, PlaylistAnswer)
    /// The instant to which the check slept, or would have slept.
    case woke(MonotonicInstant)
}

/// The playlist of a rendition, or why it did not come.
private struct PlaylistAnswer: Sendable {
    var result: Result<FetchedText, ResourceClient.Failure>
    var time: MonotonicInstant
}

/// What runs beside a check: requests for playlists, the segments of the round before, sleep.
private struct CheckCourse {
    /// How long the playlists of a round that have arrived wait for the others, so that one that is slow does not keep
    /// the others from their rhythm.
    private static let patience = Duration.seconds(1)

    /// The places of the renditions whose playlists are due, in their order.
    var due: [Int]
    /// The places of the renditions whose playlists are requested.
    private var requested: Set<Int> = []
    /// The requests that missed the end of their round.
    private var late: Set<Int> = []
    /// The playlists that have arrived in this round, by place.
    private var arrived: [Int: PlaylistAnswer] = [:]
    /// Whether a round lasts: playlists were requested, or have arrived.
    private var isOpen = true
    /// Whether no round has ended.
    private(set) var isNew = true
    var isFetching = false
    /// Whether playlists came while segments were fetched.
    var isBehind = false
    /// The instants to which the check sleeps.
    var wakes: Set<MonotonicInstant> = []

    init(due: [Int]) { self.due = due }

    /// Whether playlists are requested or have to be.
    var isLoading: Bool { isOpen || !due.isEmpty || !requested.isEmpty }

    /// The instant at which the round ends although playlists are missing; nil where none has arrived.
    var roundEnd: MonotonicInstant? { arrived.values.map(\.time).min()?.advanced(by: Self.patience) }

    func isRoundOver(at now: MonotonicInstant) -> Bool {
        isOpen && (due.isEmpty && requested.isSubset(of: late) || roundEnd.map { $0 <= now } ?? false)
    }

    /// The place of the next playlist to request; nil while as many as allowed are requested.
    mutating func next(atMost limit: Int) -> Int? {
        guard !due.isEmpty, requested.count - late.count < limit else { return nil }
        let place = due.removeFirst()
        requested.insert(place)
        isOpen = true
        return place
    }

    mutating func take(_ answer: PlaylistAnswer, at place: Int) {
        requested.remove(place)
        late.remove(place)
        arrived[place] = answer
        isOpen = true
    }

    /// Ends the round; returns its playlists in the order of the renditions.
    mutating func endRound() -> [(place: Int, answer: PlaylistAnswer)] {
        defer { (arrived, late, isOpen, isNew) = ([:], requested, false, false) }
        return arrived.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

// In what rhythm a check reloads playlists, whatever time other playlists and segments take.
extension CheckSession {
    mutating func follow() async {
        // A media playlist that is the root was fetched with it.
        let first = renditions.indices.filter { renditions[$0].playlistURL != nil && renditions[$0].attempts == 0 }
        var course = CheckCourse(due: first)
        note(requestsFor: first)
        await withTaskGroup(of: Arrival.self) { group in
            request(in: &group, &course)
            await endRound(in: &group, &course)
            while course.isFetching || course.isLoading || nextReload != nil {
                sleep(in: &group, &course)
                guard let arrival = await group.next() else { break }
                switch arrival {
                case .segments(let fetched):
                    take(fetched)
                    // What became available meanwhile. At the end of a live check, it could expire before the request.
                    let isWanted = course.isBehind && (nextReload != nil || !renditions.contains(where: \.isLive))
                    course.isFetching = isWanted && startFetching(in: &group)
                    course.isBehind = false
                    reportRound()
                case .playlist(let place, let answer): course.take(answer, at: place)
                case .woke(let instant):
                    course.wakes.remove(instant)
                    await reload(in: &group, &course)
                }
                request(in: &group, &course)
                await endRound(in: &group, &course)
            }
            group.cancelAll()
        }
    }

    /// Sleeps until the next reload, or until the end of a round whose playlists are missing.
    private func sleep(in group: inout TaskGroup<Arrival>, _ course: inout CheckCourse) {
        guard !Task.isCancelled, let next = [nextReload, course.roundEnd].compactMap(\.self).min(),
            course.wakes.allSatisfy({ $0 > next })
        else { return }
        course.wakes.insert(next)
        let clock = client.clock
        group.addTask {
            // A check that is cancelled wakes now, and sees that.
            try? await clock.sleep(until: next, tolerance: nil)
            return .woke(next)
        }
    }

    private mutating func note(requestsFor places: [Int]) {
        let now = client.clock.now
        for place in places { renditions[place].noteRequest(at: now) }
    }

    private func request(in group: inout TaskGroup<Arrival>, _ course: inout CheckCourse) {
        let client = client
        while !Task.isCancelled, let place = course.next(atMost: configuration.maxRequests) {
            guard let url = renditions[place].playlistURL else { continue }
            group.addTask {
                let result = await client.manifest(url)
                return .playlist(place, PlaylistAnswer(result: result, time: client.clock.now))
            }
        }
    }

    /// Begins the reloads whose time has come.
    private mutating func reload(in group: inout TaskGroup<Arrival>, _ course: inout CheckCourse) async {
        let now = client.clock.now
        guard let next = nextReload, next <= now else { return }
        if run.history.manifest != nil {
            await fetchRoot()
            return advance(in: &group, &course)
        }
        let due = renditions.indices.filter { place in reloadTime(of: renditions[place]).map { $0 <= now } ?? false }
        note(requestsFor: due)
        course.due += due
    }

    /// Ends a round whose playlists are there: applies the rules to them, in the order of the renditions.
    private mutating func endRound(in group: inout TaskGroup<Arrival>, _ course: inout CheckCourse) async {
        guard course.isRoundOver(at: client.clock.now), !Task.isCancelled else { return }
        let isFirst = course.isNew
        let answers = course.endRound()
        for (place, answer) in answers {
            if let url = renditions[place].playlistURL { await servers.note(answer.result, of: url) }
        }
        let report = await servers.takeReport()
        observe(report)
        for (place, answer) in answers { take(answer, of: place, besides: report) }
        if isFirst {
            let questions = ServerQuestions(client, run.history, renditions)
            for answer in await questions.answers() { run.observe(answer) }
            for answer in await questions.directiveAnswers() { run.observe(answer) }
        }
        advance(in: &group, &course)
    }

    /// Fetches the segments that a round brought, unless those of the round before are still on their way.
    private mutating func advance(in group: inout TaskGroup<Arrival>, _ course: inout CheckCourse) {
        course.isBehind = course.isFetching
        if course.isFetching { return reportRound() }
        course.isFetching = startFetching(in: &group)
        // The round of these segments is reported when they are there.
        if !course.isFetching { reportRound() }
    }

    private mutating func startFetching(in group: inout TaskGroup<Arrival>) -> Bool {
        let orders = nextOrders()
        guard !orders.isEmpty, !Task.isCancelled else { return false }
        let (segments, decoded) = (segments, decodedRenditions)
        group.addTask { .segments(await segments.fetch(orders, decoding: decoded)) }
        return true
    }

    private mutating func take(_ answer: PlaylistAnswer, of place: Int, besides servers: ServerReport) {
        let (name, url) = (renditions[place].name, renditions[place].playlistURL)
        renditions[place].noteAnswer(at: answer.time)
        switch answer.result {
        case .failure(let failure):
            if let url, !servers.explained.contains(url) { run.observe(FetchFailure(.manifest, url, failure)) }
        case .success(let text):
            report.playlistCount += 1
            // A page in the place of a playlist may be the fault of a server.
            if let url, servers.explained.contains(url) { return }
            desk?.take(text, of: name)
            run.observe(text, as: .rendition(name))
            if let playlist = run.history.rendition(name)?.current?.playlist { renditions[place].update(playlist) }
        }
    }

    // MARK: Times

    /// When the MPD, or the first playlist, is to be reloaded; nil if that is not in the time of the check.
    private var nextReload: MonotonicInstant? {
        let next: MonotonicInstant?
        if let manifest = run.history.manifest {
            next = interval(of: manifest).flatMap { manifestTimes.due(after: $0) }
        } else {
            next = renditions.lazy.compactMap { reloadTime(of: $0) }.min()
        }
        guard let next, start.duration(to: next) <= configuration.duration, !Task.isCancelled else { return nil }
        return next
    }

    private func interval(of manifest: ManifestVersion) -> Int64? {
        guard manifest.isDynamic, let period = manifest.updatePeriod else { return nil }
        return period == 0 ? renditions.map(\.targetDuration).max() ?? 0 : period
    }

    /// When a playlist is to be reloaded; nil while it is requested, and if it does not change any more.
    private func reloadTime(of rendition: CheckedRendition) -> MonotonicInstant? {
        guard rendition.needsReload else { return nil }
        let times = rendition.times ?? manifestTimes
        guard rendition.isLive else { return times.due(after: 1_000_000_000) }
        let history = run.history.rendition(rendition.name)
        // After a reload without news, half a target duration (RFC 8216bis section 6.3.4).
        let hasNews = history?.edgeSince == history?.current?.fetched.instant
        return times.due(after: hasNews ? rendition.targetDuration : rendition.targetDuration / 2)
    }
}
