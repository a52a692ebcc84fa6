package import Instrument
package import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentRules

/// Checks one stream: fetches its playlists or its MPD, reloads live ones, fetches segments if asked to, and applies
/// rules.
///
/// The stream may be hostile: each request has limits of time, size and redirects, the numbers of renditions, requests
/// and findings are bounded, and nothing is kept but what the rules remember. Refuse private addresses by the
/// transport's configuration.
package struct StreamCheck: Sendable {
    private let url: HTTPURL
    private let client: ResourceClient

    /// Creates a check.
    package init(
        _ url: HTTPURL,
        transport: any HTTPTransport,
        clock: any SchedulingClock = .system,
        configuration: StreamCheckConfiguration = StreamCheckConfiguration()
    ) {
        self.url = url
        client = ResourceClient(
            transport: transport,
            home: url,
            client: ClientHeaders(configuration.headers, cookies: configuration.keepsCookies ? CookieJar() : nil),
            clock: clock,
            configuration: configuration
        )
    }

    /// Runs the check and returns what was found; returns early, with what was found by then, if the task is cancelled.
    ///
    /// - Parameter observe: receives the state of the stream after the start and after each reload, one call at a time;
    ///   must return quickly.
    package func run(
        reportingRounds observe: (@Sendable (StreamCheckRound) -> Void)? = nil
    ) async -> StreamCheckReport {
        var session = CheckSession(url, client)
        session.observe = observe
        await session.run()
        return session.report
    }
}

/// The state of a check that runs.
struct CheckSession {
    /// The interval between two reloads is never outside these limits, in nanoseconds.
    private static let intervals: ClosedRange<Int64> = 500_000_000...30_000_000_000

    /// The periods of a rendition whose files are looked at.
    private static let mostPeriods = 16

    let url: HTTPURL
    let client: ResourceClient
    let segments: SegmentFetcher
    var run: RuleRun
    var renditions: [CheckedRendition] = []
    /// The periods of renditions that are files, by the rendition's name.
    private var files: [String: PeriodParts] = [:]
    var media: MediaCheck?
    private var desk: EvidenceDesk?
    var report: StreamCheckReport
    private let start: MonotonicInstant
    var observe: (@Sendable (StreamCheckRound) -> Void)?
    private var rounds = RoundCounter()
    private var hasReadClock = false
    /// The elements of the MPD that are elsewhere.
    private var remote = RemoteElements()
    /// When the MPD has to be fetched again, and from where.
    private var manifestURL: HTTPURL

    init(_ url: HTTPURL, _ client: ResourceClient) {
        self.url = url
        self.client = client
        segments = SegmentFetcher(client)
        run = RuleRun(rules: client.configuration.rules)
        let keepsEvidence = client.configuration.keepsEvidence
        media = client.configuration.mediaChecks.map { MediaCheck($0, keepsPictures: keepsEvidence) }
        desk = keepsEvidence ? EvidenceDesk() : nil
        report = StreamCheckReport(url: url.description)
        start = client.clock.now
        manifestURL = url
    }

    private var configuration: StreamCheckConfiguration { client.configuration }

    mutating func run() async {
        await fetchRoot()
        // A media playlist that is the root was fetched with it.
        await reloadPlaylists { $0.attempts == 0 }
        await askServers()
        await askDirectives()
        await follow()
        let known = run.violationCount
        await compareSegments()
        summarize()
        if run.violationCount > known { reportRound() }
        finish()
    }

    /// What a check waits for.
    private enum Arrival: Sendable {
        case segments(SegmentBatch)
        /// Whether the time of the next reload has come; not so in a check that is cancelled.
        case reload(isDue: Bool)
    }

    /// Reloads in the rhythm of the stream, whatever time the segments take that are fetched beside it.
    private mutating func follow() async {
        await withTaskGroup(of: Arrival.self) { group in
            var isFetching = startFetching(in: &group)
            var isBehind = false
            var isWaiting = startWaiting(since: start, in: &group)
            if !isFetching { reportRound() }
            while isFetching || isWaiting, let arrival = await group.next() {
                switch arrival {
                case .segments(let fetched):
                    take(fetched)
                    isFetching = isBehind && isWaiting && startFetching(in: &group)
                    isBehind = false
                case .reload(let isDue):
                    isWaiting = false
                    guard isDue, !Task.isCancelled else { continue }
                    let begin = client.clock.now
                    await reload()
                    isWaiting = startWaiting(since: begin, in: &group)
                    isBehind = isFetching
                    if isFetching { break }
                    isFetching = startFetching(in: &group)
                    // The round of these segments is reported when they are there.
                    if isFetching { continue }
                }
                reportRound()
            }
        }
    }

    private mutating func startFetching(in group: inout TaskGroup<Arrival>) -> Bool {
        let orders = nextOrders()
        guard !orders.isEmpty, !Task.isCancelled else { return false }
        let (segments, decoded) = (segments, decodedRenditions)
        group.addTask { .segments(await segments.fetch(orders, decoding: decoded)) }
        return true
    }

    /// Begins to wait for the next reload, whose time counts from the beginning of the last one (RFC 8216bis section
    /// 6.3.4), and returns whether one comes.
    private func startWaiting(since begin: MonotonicInstant, in group: inout TaskGroup<Arrival>) -> Bool {
        guard !Task.isCancelled, let interval = nextInterval() else { return false }
        let clock = client.clock
        let earliest = clock.now.advanced(by: .nanoseconds(Self.intervals.lowerBound))
        let next = max(begin.advanced(by: .nanoseconds(interval)), earliest)
        guard start.duration(to: next) <= configuration.duration else { return false }
        group.addTask {
            do { try await clock.sleep(until: next, tolerance: nil) } catch { return .reload(isDue: false) }
            return .reload(isDue: true)
        }
        return true
    }

    private mutating func finish() {
        report.unappliedRules = run.unappliedRules
        report.findings = run.findings
        report.omittedFindings = run.omittedFindings
        report.renditionCount = renditions.count
        report.stream = StreamDescription(run.history, renditions, now: client.clock.wallTime)
        report.format = run.history.presentation.map { $0.format == .hls ? "HLS" : "DASH" }
        if var media {
            report.media = media.finish()
            report.loudness = media.loudness
        }
    }

    private mutating func reportRound() {
        guard let observe, !Task.isCancelled else { return }
        var round = rounds.round(run, renditions, media)
        if let evidence = desk?.evidence(of: round, pictures: media?.faulty ?? [:]) { round.evidence = evidence }
        observe(round)
    }

    // MARK: Playlists

    private mutating func fetchRoot() async {
        let rootURL: HTTPURL
        var trickMode: Presentation?
        switch await client.manifest(manifestURL) {
        case .failure(let failure):
            run.observe(FetchFailure(.manifest, manifestURL, failure))
            return
        case .success(let fetched):
            report.playlistCount += 1
            var text = fetched
            // Playlists have neither elements elsewhere nor clocks, and are not parsed twice.
            if ManifestContent(text.bytes).isMarkup {
                remote = await client.remoteElements(of: text, known: remote)
                text.remote = remote
                if !hasReadClock { await readClock(of: text) }
            }
            desk?.take(text, of: nil)
            run.observe(text, as: .root)
            rootURL = text.url
            if let manifest = run.history.manifest {
                trickMode = Presentation.trickMode(
                    of: manifest.root,
                    at: manifest.url,
                    now: manifest.fetched.wallTime,
                    clockOffset: run.history.clockOffset
                )
            }
        }
        guard let presentation = run.history.presentation else { return }
        manifestURL = presentation.live?.reloadURL ?? manifestURL
        var found = presentation.checkedRenditions(rootURL: rootURL)
        if presentation.format == .hls { found += run.history.multivariant?.keyframeRenditions ?? [] }
        found += trickMode?.checkedRenditions(rootURL: rootURL).map(\.asKeyframes) ?? []
        await indexParts(of: [presentation, trickMode].compactMap(\.self), &found)
        report.skippedRenditionCount = max(0, found.count - configuration.maxRenditions)
        found = Array(found.prefix(configuration.maxRenditions))
        merge(found)
    }

    /// Asks the clock that an MPD names, once in a run and before the MPD is judged by it.
    private mutating func readClock(of text: FetchedText) async {
        hasReadClock = true
        // A text that cannot be parsed has a rule that says why.
        let presentation = try? Presentation(
            parsing: text.bytes,
            at: text.url,
            remote: text.remote,
            now: text.fetched.wallTime
        )
        guard let sources = presentation?.clockSources, let reading = await client.time(from: sources) else { return }
        run.observe(reading)
    }

    /// Keeps what is known of a rendition when a new version of the MPD names it again.
    private mutating func merge(_ found: [CheckedRendition]) {
        let known = Dictionary(renditions.map { ($0.name, $0) }) { first, _ in first }
        renditions = found.map { rendition in
            guard var old = known[rendition.name] else { return rendition }
            old.take(rendition.segments, isLive: rendition.isLive)
            return old
        }
    }

    /// Fetches the indexes of files that are one segment each (`SegmentBase`), each once in a run.
    private mutating func indexParts(of presentations: [Presentation], _ found: inout [CheckedRendition]) async {
        guard configuration.segmentCount > 0, let presentation = presentations.first else { return }
        var known: [String: PeriodParts] = [:]
        for index in found.indices.prefix(configuration.maxRenditions) {
            let name = found[index].name
            let rendition = presentations.lazy.flatMap(\.renditions).first { $0.id.description == name }
            guard case .parts(let sources) = rendition?.source else { continue }
            var parts = files[name] ?? PeriodParts()
            parts.take(Array(sources.prefix(Self.mostPeriods)))
            if let failure = await load(&parts) { run.observe(failure) }
            known[name] = parts
            guard let segments = parts.segments(isComplete: presentation.hasLastPeriod, needsBegunPeriods: false) else {
                continue
            }
            found[index].take(segments, isLive: presentation.live != nil)
        }
        files = known
    }

    /// Fetches the indexes that are missing, up to the first one that cannot be read, and returns why.
    private func load(_ parts: inout PeriodParts) async -> FetchFailure? {
        while let missing = parts.missing, !Task.isCancelled {
            switch await client.bytes(missing.file.url, missing.range) {
            case .failure(let failure): return failure.observation(of: missing.file.url)
            case .success(let bytes):
                do throws(ManifestError) {
                    try parts.take(bytes)
                } catch {
                    return FetchFailure(kind: .index, url: missing.file.url, reason: error.message)
                }
            }
        }
        return nil
    }

    private mutating func reload() async {
        if run.history.manifest != nil { await fetchRoot() }
        await reloadPlaylists { $0.needsReload }
    }

    /// Fetches the media playlists, several at a time, and applies the rules in the order of the renditions.
    private mutating func reloadPlaylists(where isWanted: (CheckedRendition) -> Bool) async {
        let places = renditions.indices.filter { place in
            renditions[place].playlistURL != nil && isWanted(renditions[place])
        }
        for place in places { renditions[place].noteRequest() }
        let client = client
        let urls = places.map { renditions[$0].playlistURL }
        let texts = await inParallel(urls, limit: configuration.maxRequests) { url in
            guard let url else { return nil as Result<FetchedText, ResourceClient.Failure>? }
            return await client.manifest(url)
        }
        for (place, result) in zip(places, texts) {
            guard let result, let playlistURL = renditions[place].playlistURL else { continue }
            switch result {
            case .failure(let failure):
                run.observe(FetchFailure(.manifest, playlistURL, failure))
            case .success(let text):
                report.playlistCount += 1
                desk?.take(text, of: renditions[place].name)
                run.observe(text, as: .rendition(renditions[place].name))
                if let playlist = run.history.rendition(renditions[place].name)?.current?.playlist {
                    renditions[place].update(playlist)
                }
            }
        }
    }

    /// The delay before the next reload, in nanoseconds; nil if nothing changes any more.
    private func nextInterval() -> Int64? {
        if let manifest = run.history.manifest {
            guard manifest.isDynamic, let period = manifest.updatePeriod else { return nil }
            let longest = renditions.map(\.targetDuration).max() ?? 0
            return clamped(max(period, period == 0 ? longest : 0))
        }
        guard renditions.contains(where: \.needsReload) else { return nil }
        let live = renditions.filter(\.isLive)
        guard let target = live.map(\.targetDuration).min() else { return 1_000_000_000 }
        // After a reload without news, half a target duration (section 6.3.4).
        let hasNews = live.contains { rendition in
            let history = run.history.rendition(rendition.name)
            return history?.edgeSince == history?.current?.fetched.instant
        }
        return clamped(hasNews ? target : target / 2)
    }

    private func clamped(_ interval: Int64) -> Int64 {
        min(max(interval, Self.intervals.lowerBound), Self.intervals.upperBound)
    }

    // MARK: Segments

    /// The renditions whose pictures or sound are decoded.
    private var decodedRenditions: Set<String> { media?.renditions(of: run.history.presentation) ?? [] }

    /// The segments to fetch now.
    private mutating func nextOrders() -> [SegmentOrder] {
        guard configuration.segmentCount > 0 else { return [] }
        var orders: [SegmentOrder] = []
        let now = client.clock.wallTime
        let decoded = decodedRenditions
        for place in renditions.indices {
            if configuration.fetchesOnlyDecodedRenditions, !decoded.contains(renditions[place].name) { continue }
            let (name, index, isLive) = (renditions[place].name, renditions[place].segments, renditions[place].isLive)
            let next = renditions[place].plan.next(configuration.segmentCount, of: index, isLive: isLive, now: now)
            orders += next.map { order($0, of: place, name, .contents) }
            // After the others: what they show says whether the window or the clock is wrong.
            let instant = client.clock.now
            if let oldest = renditions[place].plan.oldest(of: index, besides: next, isLive: isLive, at: instant) {
                orders.append(order(oldest, of: place, name, .availability))
            }
            if let ending = renditions[place].plan.ending(of: index, besides: next, isLive: isLive) {
                orders.append(order(ending, of: place, name, .availability))
            }
            // The last chance to compare the first segment with itself, before it leaves the window.
            if isLive, next.first?.sequence != renditions[place].plan.first?.sequence,
                let first = renditions[place].plan.expiring(from: index)
            {
                orders.append(order(first, of: place, name, .comparison))
            }
        }
        return orders
    }

    private func order(
        _ segment: MediaSegment,
        of place: Int,
        _ name: String,
        _ purpose: SegmentOrder.Purpose
    ) -> SegmentOrder {
        let rendition = renditions[place]
        return SegmentOrder(
            rendition: name,
            segment: segment,
            purpose: purpose,
            isLive: rendition.isLive,
            role: rendition.role,
            isLast: rendition.segments.isComplete && segment.sequence == rendition.segments.last?.sequence
        )
    }

    /// Applies the rules to segments that arrived.
    private mutating func take(_ batch: SegmentBatch) {
        for (place, result) in batch.segments.enumerated() where !Task.isCancelled && isStillListed(result) {
            let order = result.order
            report.segmentCount += result.facts.byteCount == nil ? 0 : 1
            report.segmentBytes += result.facts.byteCount ?? 0
            if result.isRead { report.readSegmentCount += 1 }
            if result.facts.byteCount != nil, case .unsupported(let method) = order.segment.encryption?.method {
                report.unreadEncryptions.insert(method)
            }
            // An expired segment cannot be compared; whether it may expire is not asked here.
            if order.purpose == .comparison, result.facts.failure != nil { continue }
            let known = desk == nil ? 0 : run.violationCount
            run.observe(result.facts)
            for failure in batch.failures[place] ?? [] { run.observe(failure) }
            if let content = result.media { media?.decode(content, of: order) }
            if result.media != nil || run.violationCount > known { desk?.take(result.head, of: order) }
        }
    }

    /// Whether the rules can judge a segment by the playlist, which may have been reloaded since the segment was asked
    /// for: one that has left a live window may be missing, and one behind the window is of a sequence that has ended.
    private func isStillListed(_ result: FetchedSegment) -> Bool {
        let (order, number) = (result.order, result.order.segment.sequence)
        guard order.isLive, let rendition = renditions.first(where: { $0.name == order.rendition }),
            let newest = rendition.segments.last?.sequence, let oldest = rendition.segments.first?.sequence
        else { return true }
        return number <= newest && (number >= oldest || result.facts.failure == nil)
    }

    /// Fetches the first segment of each rendition again, to learn whether the bytes change.
    private mutating func compareSegments() async {
        guard configuration.segmentCount > 0, !Task.isCancelled else { return }
        var orders: [SegmentOrder] = []
        for place in renditions.indices {
            guard let first = renditions[place].plan.compared(in: renditions[place].segments) else { continue }
            orders.append(order(first, of: place, renditions[place].name, .comparison))
        }
        take(await segments.fetch(orders, decoding: []))
    }
}

extension RuleRun {
    /// How often a rule was broken.
    fileprivate var violationCount: Int { sums.values.reduce(0) { $0 + $1.count } }
}
