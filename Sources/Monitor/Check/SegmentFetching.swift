internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentProbe
internal import InstrumentRules

/// A segment to fetch.
struct SegmentOrder: Sendable {
    enum Purpose: Sendable { case contents, availability, comparison }

    var rendition: String
    var segment: MediaSegment
    var purpose: Purpose
    var isLive: Bool
    var role: Role
    /// Whether the segment is the last one of a presentation to which nothing is added.
    var isLast = false
    /// Whether an MPD implies the segment for less than half of a segment's duration.
    var isRemainder = false

    enum Role: Sendable { case media, audio, subtitles, keyframes }
}

/// The result for a segment.
///
/// A class: as a structure, it was copied wrongly out of a task group in a release build (Swift 6.3.1), which crashed.
final class FetchedSegment: Sendable {
    let order: SegmentOrder
    let facts: SegmentFacts
    /// The plain bytes where pictures or sound are to be decoded.
    let media: SegmentMedia?
    /// Whether the key of encrypted samples cannot be fetched.
    let lacksKey: Bool
    /// The first bytes, as evidence; nil where nothing arrived, and unless evidence is kept.
    let head: SegmentHead?

    init(
        order: SegmentOrder,
        facts: SegmentFacts,
        media: SegmentMedia? = nil,
        lacksKey: Bool = false,
        head: SegmentHead? = nil
    ) {
        (self.order, self.facts, self.media, self.lacksKey) = (order, facts, media, lacksKey)
        self.head = head
    }

    /// Whether the content was read, so that rules could judge it.
    var isRead: Bool { facts.failure == nil && (!facts.tracks.isEmpty || facts.subtitles != nil) }
}

/// Segments that were fetched together.
struct SegmentBatch: Sendable {
    /// In the order of the orders.
    var segments: [FetchedSegment] = []
    /// The keys and initialization segments that could not be fetched, for segments that could not be read; by the
    /// place of the segment.
    var failures: [Int: [FetchFailure]] = [:]
    /// What the requests showed of the servers.
    var servers = ServerReport()
}

/// The plain bytes of a segment.
struct SegmentMedia: Sendable {
    var initialization: [UInt8]
    var bytes: [UInt8]
}

/// Fetches segments with their initialization segments and keys, which are kept for the next segment.
actor SegmentFetcher {
    /// How many keys and initialization segments are kept.
    private static let mostKept = 64
    private static let mostDescribed = 1_024

    private let client: ResourceClient
    private let servers: StreamServers
    private var initializations: [InitializationSegment: [UInt8]] = [:]
    private var keys: [HTTPURL: [UInt8]] = [:]
    /// The media whose pictures were described.
    private var described: Set<DescribedMedia> = []

    /// Media that has one format of pictures.
    private struct DescribedMedia: Hashable {
        var rendition: String
        var discontinuity: Int64
        var initialization: InitializationSegment?
    }

    init(_ client: ResourceClient, _ servers: StreamServers) { (self.client, self.servers) = (client, servers) }

    /// Fetches segments, a few at a time.
    nonisolated func fetch(_ orders: [SegmentOrder], decoding renditions: Set<String>) async -> SegmentBatch {
        let segments = await inParallel(orders, limit: client.configuration.maxRequests) { order in
            await self.fetch(order, keepsMedia: order.purpose == .contents && renditions.contains(order.rendition))
        }
        var batch = SegmentBatch(segments: segments)
        for (place, result) in segments.enumerated() where result.order.purpose == .contents {
            guard result.facts.failure == nil else { continue }
            let segment = result.order.segment
            await servers.compare(
                segment.url,
                .segment,
                defect: Self.replacement(ofPlain: segment.encryption == nil),
                { await client.body($0, segment.byteRange) }
            )
            if !result.isRead || result.lacksKey { batch.failures[place] = await failures(of: segment) }
        }
        batch.servers = await servers.takeReport()
        return batch
    }

    /// What a server may send in the place of a resource that it lacks; nothing can be said of encrypted ones.
    private static func replacement(ofPlain isPlain: Bool) -> @Sendable (ResourceClient.Body) -> String? {
        { isPlain ? ManifestContent.replacement(of: $0.bytes) : nil }
    }

    private nonisolated func fetch(_ order: SegmentOrder, keepsMedia: Bool) async -> FetchedSegment {
        let segment = order.segment
        var facts = Self.facts(of: order, at: client.clock.timestamp)
        if order.purpose == .availability {
            facts.place = order.isLive ? .oldest : .inside
            let answer = await servers.answer(for: segment.url, .segment, showsContent: false) {
                await client.availability($0, segment.byteRange)
            }
            facts.url = answer.address
            if case .failure(let failure) = answer.result { facts.failure = Self.failure(failure) }
            return FetchedSegment(order: order, facts: facts)
        }
        let answer = await servers.answer(
            for: segment.url,
            .segment,
            defect: Self.replacement(ofPlain: segment.encryption == nil),
            { await client.body($0, segment.byteRange, isText: order.role == .subtitles) }
        )
        facts.url = answer.address
        switch answer.result {
        case .failure(let failure): facts.failure = Self.failure(failure)
        case .success(let body):
            facts.byteCount = body.bytes.count
            facts.hash = FNV1a.hash64(body.bytes)
            (facts.isRangeIgnored, facts.rangeShortage) = (body.isRangeIgnored, body.shortage)
            facts.lacksContentRange = body.lacksContentRange
            if case .unsupported = segment.encryption?.method {
                let head = client.configuration.keepsEvidence ? SegmentHead(initialization: [], bytes: body.bytes) : nil
                return FetchedSegment(order: order, facts: facts, head: head)
            }
            if body.bytes.isEmpty {
                (facts.failure, facts.rangeShortage) = (.unreadable("\(ManifestContent.empty)"), nil)
                return FetchedSegment(order: order, facts: facts)
            }
            return await inspect(body.bytes, order, facts, keepsMedia: keepsMedia)
        }
        return FetchedSegment(order: order, facts: facts)
    }

    private nonisolated func inspect(
        _ bytes: [UInt8],
        _ order: SegmentOrder,
        _ facts: SegmentFacts,
        keepsMedia: Bool
    ) async -> FetchedSegment {
        var facts = facts
        let segment = order.segment
        let decryption = await decrypted(bytes, segment.encryption)
        facts.failure = decryption.fault.map { .undecipherable($0) }
        let plain = decryption.plain
        var start: [UInt8] = []
        if let initialization = segment.initialization { start = await self.initialization(initialization) ?? [] }
        let head = client.configuration.keepsEvidence ? SegmentHead(initialization: start, bytes: plain ?? bytes) : nil
        // A segment that cannot be decrypted has a rule that says why; an initialization segment that is missing, too.
        guard let plain, segment.initialization == nil || !start.isEmpty else {
            return FetchedSegment(order: order, facts: facts, head: head)
        }
        let hasSamples = if case .samples = segment.encryption?.method { true } else { false }
        var lacksKey = false
        if hasSamples, let url = segment.encryption?.keyURL {
            lacksKey = await key(url).map { ManifestContent.keyDefect(of: $0) != nil } ?? true
        }
        if order.role == .subtitles || SubtitleInspection.isText(plain) {
            let inspection = SubtitleInspection(
                media: plain,
                initialization: start,
                hasReadableSamples: !hasSamples,
                range: segment.mediaTime.map { $0..<max($0, $0.saturatingAdd(segment.duration)) }
            )
            facts.take(inspection)
            return FetchedSegment(order: order, facts: facts, head: head)
        }
        let isFragment = Self.isFragment(plain)
        facts.isBareFragment = segment.initialization == nil && (isFragment || Self.hasType("ftyp", plain))
        facts.signalFindings = SegmentSignals.findings(in: plain)
        let describesPictures = hasSamples ? false : await mustDescribe(order)
        do throws(SegmentInspection.Failure) {
            let inspection = try SegmentInspection(
                media: plain,
                initialization: start,
                describingPictures: describesPictures
            )
            facts.take(inspection, hasReadableSamples: !hasSamples)
            (facts.isTruncated, facts.lacksTables) = (inspection.isTruncated, inspection.lacksTables)
            (facts.chunkCount, facts.packetGaps) = (inspection.chunkCount, inspection.packetGaps)
            facts.hasTimeline = inspection.hasTimeline
            facts.wrap = inspection.wrap
            facts.refusal = inspection.refusal.map { refusal in
                SegmentFacts.Refusal(
                    found: refusal.found,
                    expected: refusal.expected,
                    remedy: refusal.remedy,
                    isWhole: refusal.isWhole
                )
            }
        } catch {
            // Fragments without their initialization segment have another rule.
            if case .unreadable(let reason) = error, !(isFragment && segment.initialization == nil) {
                // A wrong key leaves bytes that look like a padding once in 256 segments, and a wrong IV always does.
                facts.failure =
                    facts.isEncrypted
                    ? .undecipherable("\(reason) after decryption")
                    : .unreadable(ManifestContent(plain).replacement ?? reason)
            }
        }
        // Pictures and sound of encrypted samples cannot be decoded.
        if hasSamples { return FetchedSegment(order: order, facts: facts, lacksKey: lacksKey, head: head) }
        let media = keepsMedia ? SegmentMedia(initialization: start, bytes: plain) : nil
        return FetchedSegment(order: order, facts: facts, media: media, head: head)
    }

    /// The result of a decryption.
    private struct Decryption {
        /// The plain bytes; nil without them.
        var plain: [UInt8]?
        /// What shows that the key does not fit; nil if it may fit.
        var fault: String?
    }

    private nonisolated func decrypted(_ bytes: [UInt8], _ encryption: SegmentEncryption?) async -> Decryption {
        guard let encryption, encryption.method == .aes128 else { return Decryption(plain: bytes) }
        var result = Decryption()
        // An invalid key has a rule that says why.
        guard let key = await key(of: encryption), ManifestContent.keyDefect(of: key) == nil else { return result }
        result.plain = try? SegmentInspection.decrypt(
            bytes,
            key: key,
            initializationVector: encryption.initializationVector
        )
        if let plain = result.plain {
            // A wrong IV changes the first block alone.
            let isDamaged = SegmentInspection.hasDamagedStart(plain)
            if isDamaged { (result.plain, result.fault) = (nil, "a wrong first block after decryption") }
            return result
        }
        if SegmentInspection.beginsPlainly(bytes) {
            result.fault = "media that is not encrypted"
        } else if bytes.isEmpty || bytes.count % 16 != 0 {
            result.fault = "\(bytes.count) bytes, which is no multiple of 16,"
        } else {
            result.fault = "no valid padding after decryption"
        }
        return result
    }

    /// Whether the pictures of a segment are to be described: once for media of one format.
    private func mustDescribe(_ order: SegmentOrder) -> Bool {
        let segment = order.segment
        if described.count >= Self.mostDescribed { described = [] }
        let media = DescribedMedia(
            rendition: order.rendition,
            discontinuity: segment.discontinuity,
            initialization: segment.initialization
        )
        return order.role != .audio && described.insert(media).inserted
    }

    private func key(of encryption: SegmentEncryption) async -> [UInt8]? {
        if let key = encryption.key { return key }
        guard let url = encryption.keyURL else { return nil }
        return await key(url)
    }

    private func key(_ url: HTTPURL) async -> [UInt8]? {
        if let known = keys[url] { return known }
        guard case .success(let bytes) = await client.bytes(url) else { return nil }
        if keys.count >= Self.mostKept { keys = [:] }
        keys[url] = bytes
        return bytes
    }

    private func initialization(_ segment: InitializationSegment) async -> [UInt8]? {
        if let known = initializations[segment] { return known }
        let answer = await body(of: segment).result
        guard case .success(let bytes) = answer.map(\.bytes) else { return nil }
        guard let plain = await decrypted(bytes, segment.encryption).plain, Self.defect(ofInitialization: plain) == nil
        else { return nil }
        if initializations.count >= Self.mostKept { initializations = [:] }
        initializations[segment] = plain
        return plain
    }

    /// Fetches an initialization segment from a server that has it.
    private nonisolated func body(of segment: InitializationSegment) async -> StreamServers.Answer<ResourceClient.Body>
    {
        return await servers.answer(
            for: segment.url,
            .segment,
            defect: Self.replacement(ofPlain: segment.encryption == nil),
            { await client.body($0, segment.byteRange) }
        )
    }

    /// Resources that segments need and that could not be fetched, asked for once more to learn the reason.
    nonisolated func failures(of segment: MediaSegment) async -> [FetchFailure] {
        var failures: [FetchFailure] = []
        let needed = [segment.encryption?.keyURL, segment.initialization?.url].compactMap(\.self)
        for url in needed {
            let initialization = segment.initialization?.url == url ? segment.initialization : nil
            guard let initialization else {
                switch await client.bytes(url) {
                case .failure(let failure): failures.append(failure.observation(of: url))
                case .success(let bytes):
                    let found = ManifestContent.keyDefect(of: bytes)
                    if let found { failures.append(FetchFailure(kind: .key, url: url, reason: found)) }
                }
                continue
            }
            let answer = await body(of: initialization)
            switch answer.result {
            case .failure(let failure): failures.append(failure.observation(of: answer.address))
            case .success(let body):
                let plain = await decrypted(body.bytes, initialization.encryption)
                let found = plain.fault ?? plain.plain.flatMap { Self.defect(ofInitialization: $0) }
                if let found {
                    failures.append(FetchFailure(kind: .initialization, url: answer.address, reason: found))
                }
            }
        }
        return failures
    }
}

extension SegmentFetcher {
    /// What came in the place of an initialization segment, as a noun; nil for one.
    private static func defect(ofInitialization bytes: [UInt8]) -> String? {
        ManifestContent(bytes).replacement ?? SegmentInspection.defect(ofInitialization: bytes)
    }

    private static func facts(of order: SegmentOrder, at moment: Timestamp) -> SegmentFacts {
        let segment = order.segment
        var facts = SegmentFacts(
            rendition: order.rendition,
            url: segment.url,
            sequence: segment.sequence,
            discontinuity: segment.discontinuity,
            declaredDuration: segment.duration,
            fetched: moment
        )
        facts.declaredMediaTime = segment.mediaTime
        facts.declaredBandwidth = segment.peakBitrate
        (facts.trimmedStart, facts.trimmedEnd) = (segment.trimmedStart, segment.trimmedEnd)
        facts.date = segment.wallTime
        facts.isLive = order.isLive
        (facts.isLast, facts.isRemainder) = (order.isLast, order.isRemainder)
        facts.isKeyframeOnly = order.role == .keyframes
        facts.position = segment.start
        facts.isEncrypted = segment.encryption?.method == .aes128
        facts.hasInitialization = segment.initialization != nil
        return facts
    }

    private static func failure(_ failure: ResourceClient.Failure) -> SegmentFacts.Failure {
        switch failure {
        case .status(let status): .status(status)
        case .connection(let reason): .connection(reason)
        case .otherRange(let found): .otherRange(found)
        case .coding(let found): .coding(found)
        case .empty: .unreadable(failure.reason)
        }
    }

    private static func isFragment(_ bytes: [UInt8]) -> Bool {
        ["moof", "styp", "sidx"].contains { hasType($0, bytes) }
    }

    /// Whether bytes begin with a box of MP4 of a type.
    private static func hasType(_ type: String, _ bytes: [UInt8]) -> Bool {
        bytes.count >= 8 && bytes[4..<8].elementsEqual(type.utf8)
    }
}

extension ResourceClient.Failure {
    /// The failure of a segment's resource, for the rules.
    func observation(of url: HTTPURL) -> FetchFailure {
        if case .otherRange(let found) = self { return FetchFailure(kind: .range, url: url, reason: found) }
        return FetchFailure(.segment, url, self)
    }
}

extension SegmentFacts {
    fileprivate mutating func take(_ inspection: SubtitleInspection) {
        var read = Subtitles(cueCount: inspection.cueCount, defect: inspection.defect)
        (read.times, read.hasTimestampMap) = (inspection.times, inspection.hasTimestampMap)
        (read.outsideCount, read.latestStart) = (inspection.outsideCount, inspection.latestStart)
        subtitles = read
    }

    fileprivate mutating func take(_ inspection: SegmentInspection, hasReadableSamples: Bool) {
        tracks = inspection.tracks.map { track in
            var known = Track(isVideo: track.isVideo, codec: track.codec, start: track.start, end: track.end)
            // Encrypted samples may hide what kind of frame they are.
            known.startsWithKeyframe = track.startsWithKeyframe || !hasReadableSamples
            known.size = track.size.map { Resolution(width: $0.width, height: $0.height) }
            known.sampleAspect = track.sampleAspect
            known.largestGap = track.largestGap
            (known.framesPerSecond, known.transfer) = (track.framesPerSecond, track.transfer)
            (known.channelCount, known.sampleRate) = (track.channelCount, track.sampleRate)
            return known
        }
        if inspection.declaresVideo { declaredKinds.insert(.video) }
        if inspection.declaresAudio { declaredKinds.insert(.audio) }
    }
}
