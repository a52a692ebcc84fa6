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
    /// The periods of a rendition whose files are looked at.
    private static let mostPeriods = 16

    let url: HTTPURL
    let client: ResourceClient
    let servers: StreamServers
    let segments: SegmentFetcher
    var run: RuleRun
    var renditions: [CheckedRendition] = []
    /// The periods of renditions that are files, by the rendition's name.
    private var files: [String: PeriodParts] = [:]
    var media: MediaCheck?
    var desk: EvidenceDesk?
    var report: StreamCheckReport
    let start: MonotonicInstant
    /// When the MPD was requested last, and answered.
    private(set) var manifestTimes: RequestTimes
    var observe: (@Sendable (StreamCheckRound) -> Void)?
    private var rounds = RoundCounter()
    private var tally = SegmentTally()
    private var hasReadClock = false
    /// The elements of the MPD that are elsewhere.
    private var remote = RemoteElements()
    /// When the MPD has to be fetched again, and from where.
    private var manifestURL: HTTPURL

    init(_ url: HTTPURL, _ client: ResourceClient) {
        self.url = url
        self.client = client
        servers = StreamServers(clock: client.clock)
        segments = SegmentFetcher(client, servers)
        run = RuleRun(rules: client.configuration.rules)
        let keepsEvidence = client.configuration.keepsEvidence
        media = client.configuration.mediaChecks.map { MediaCheck($0, keepsPictures: keepsEvidence) }
        desk = keepsEvidence ? EvidenceDesk() : nil
        report = StreamCheckReport(url: url.description)
        start = client.clock.now
        manifestTimes = RequestTimes(begun: start)
        manifestURL = url
    }

    var configuration: StreamCheckConfiguration { client.configuration }

    mutating func run() async {
        await fetchRoot()
        await follow()
        let known = run.violationCount
        await compareSegments()
        observe(await servers.takeReport(isLast: true))
        summarize()
        if run.violationCount > known { reportRound() }
        finish()
    }

    /// Applies the rules on whole renditions, and states why nothing could be checked.
    private mutating func summarize() {
        let summaries = RenditionSummaries(of: renditions, run.history, at: url, now: client.clock.wallTime)
        // A check that was stopped may just not have seen a segment yet.
        if !Task.isCancelled { run.observe(summaries.all) }
        report.emptiness = summaries.emptiness(of: report, fetchesSegments: configuration.segmentCount > 0)
    }

    private mutating func finish() {
        report.unappliedRules = run.unappliedRules
        report.findings = run.findings
        report.omittedFindings = run.omittedFindings
        report.keyframeRenditionCount = renditions.count(where: \.isKeyframeOnly)
        report.renditionCount = renditions.count - report.keyframeRenditionCount
        report.stream = StreamDescription(run.history, renditions, now: client.clock.wallTime)
        report.format = run.history.presentation.map { $0.format == .hls ? "HLS" : "DASH" }
        if var media {
            report.media = media.finish()
            report.loudness = media.loudness
        }
    }

    mutating func reportRound() {
        guard let observe, !Task.isCancelled else { return }
        var round = rounds.round(run, renditions, media)
        if let evidence = desk?.evidence(of: round, pictures: media?.faulty ?? [:]) { round.evidence = evidence }
        observe(round)
    }

    // MARK: Playlists

    mutating func fetchRoot() async {
        manifestTimes = RequestTimes(begun: client.clock.now)
        defer { manifestTimes.answered = client.clock.now }
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
        await servers.take(presentation)
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
        guard let presentation = presentations.first else { return }
        var known: [String: PeriodParts] = [:]
        var failures: [(url: HTTPURL, failure: FetchFailure)] = []
        for index in found.indices.prefix(configuration.maxRenditions) {
            let name = found[index].name
            let rendition = presentations.lazy.flatMap(\.renditions).first { $0.id.description == name }
            guard case .parts(let sources) = rendition?.source else { continue }
            var parts = files[name] ?? PeriodParts()
            parts.take(Array(sources.prefix(Self.mostPeriods)))
            if let failure = await load(&parts), let url = parts.missing?.file.url { failures.append((url, failure)) }
            known[name] = parts
            guard let segments = parts.segments(isComplete: presentation.hasLastPeriod, needsBegunPeriods: false) else {
                continue
            }
            found[index].take(segments, isLive: presentation.live != nil)
        }
        files = known
        let report = await servers.takeReport()
        observe(report)
        for (url, failure) in failures where !report.explained.contains(url) { run.observe(failure) }
    }

    /// Applies the rules to the servers that failed.
    mutating func observe(_ report: ServerReport) { for failure in report.failures { run.observe(failure) } }

    /// Fetches the indexes that are missing, up to the first one that cannot be read, and returns why.
    private func load(_ parts: inout PeriodParts) async -> FetchFailure? {
        while let missing = parts.missing, !Task.isCancelled {
            let answer = await servers.answer(for: missing.file.url, .segment) { await client.bytes($0, missing.range) }
            switch answer.result {
            case .failure(let failure): return failure.observation(of: answer.address)
            case .success(let bytes):
                do throws(ManifestError) {
                    try parts.take(bytes)
                } catch {
                    return FetchFailure(kind: .index, url: answer.address, reason: error.message)
                }
            }
        }
        return nil
    }

    // MARK: Segments

    /// The renditions whose pictures or sound are decoded.
    var decodedRenditions: Set<String> { media?.renditions(of: run.history.presentation) ?? [] }

    /// The segments to fetch now.
    mutating func nextOrders() -> [SegmentOrder] {
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
        let isLast = rendition.segments.isComplete && segment.sequence == rendition.segments.last?.sequence
        return SegmentOrder(
            rendition: name,
            segment: segment,
            purpose: purpose,
            isLive: rendition.isLive,
            role: rendition.role,
            isLast: isLast,
            isRemainder: isLast && run.history.manifest != nil
                && segment.duration < rendition.segments.targetDuration / 2
        )
    }

    /// Applies the rules to segments that arrived.
    mutating func take(_ batch: SegmentBatch) {
        observe(batch.servers)
        for (place, result) in batch.segments.enumerated() where !Task.isCancelled && isStillListed(result) {
            let order = result.order
            if result.facts.byteCount != nil { tally.take(result) }
            (report.segmentCount, report.readSegmentCount) = (tally.count, tally.readCount)
            report.segmentBytes += result.facts.byteCount ?? 0
            if result.facts.byteCount != nil, case .unsupported(let method) = order.segment.encryption?.method {
                report.unreadEncryptions.insert(method)
            }
            if batch.servers.explained.contains(order.segment.url) { continue }
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
