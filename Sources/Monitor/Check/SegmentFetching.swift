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
    var isAudio: Bool
}

/// The result for a segment: its facts, and the plain bytes where pictures or sound are to be decoded.
struct FetchedSegment: Sendable {
    var facts: SegmentFacts
    var media: SegmentMedia?
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

    private let client: ResourceClient
    private var initializations: [InitializationSegment: [UInt8]] = [:]
    private var keys: [HTTPURL: [UInt8]] = [:]

    init(_ client: ResourceClient) { self.client = client }

    nonisolated func fetch(_ order: SegmentOrder, keepsMedia: Bool) async -> FetchedSegment {
        let segment = order.segment
        var facts = Self.facts(of: order, at: client.clock.timestamp)
        if order.purpose == .availability {
            facts.place = .oldest
            if case .failure(let failure) = await client.availability(segment.url, segment.byteRange) {
                facts.failure = Self.failure(failure)
            }
            return FetchedSegment(facts: facts)
        }
        switch await client.bytes(segment.url, segment.byteRange) {
        case .failure(let failure): facts.failure = Self.failure(failure)
        case .success(let bytes):
            facts.byteCount = bytes.count
            facts.hash = FNV1a.hash64(bytes)
            if case .unsupported = segment.encryption?.method { return FetchedSegment(facts: facts) }
            return await inspect(bytes, segment, facts, keepsMedia: keepsMedia)
        }
        return FetchedSegment(facts: facts)
    }

    private nonisolated func inspect(
        _ bytes: [UInt8],
        _ segment: MediaSegment,
        _ facts: SegmentFacts,
        keepsMedia: Bool
    ) async -> FetchedSegment {
        var facts = facts
        let (plain, keyCount) = await decrypted(bytes, segment.encryption)
        facts.keyByteCount = keyCount
        var start: [UInt8] = []
        if let initialization = segment.initialization { start = await self.initialization(initialization) ?? [] }
        // A segment that cannot be decrypted has a rule that says why; an initialization segment that is missing, too.
        guard let plain, segment.initialization == nil || !start.isEmpty else { return FetchedSegment(facts: facts) }
        if Self.isText(plain) { return FetchedSegment(facts: facts) }
        do throws(SegmentInspection.Failure) {
            let inspection = try SegmentInspection(media: plain, initialization: start)
            facts.tracks = inspection.tracks.map { track in
                var fact = SegmentFacts.Track(
                    isVideo: track.isVideo,
                    codec: track.codec,
                    start: track.start,
                    end: track.end
                )
                fact.largestGap = track.largestGap
                return fact
            }
            facts.isTruncated = inspection.isTruncated
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
            let isFragment = segment.initialization == nil && Self.isFragment(plain)
            if case .unreadable(let reason) = error, !isFragment { facts.failure = .unreadable(reason) }
        }
        // Pictures and sound of encrypted samples cannot be decoded.
        if case .samples = segment.encryption?.method { return FetchedSegment(facts: facts) }
        let media = keepsMedia ? SegmentMedia(initialization: start, bytes: plain) : nil
        return FetchedSegment(facts: facts, media: media)
    }

    private nonisolated func decrypted(
        _ bytes: [UInt8],
        _ encryption: SegmentEncryption?
    ) async -> (plain: [UInt8]?, keyCount: Int?) {
        guard let encryption, encryption.method == .aes128, let url = encryption.keyURL else { return (bytes, nil) }
        guard let key = await key(url) else { return (nil, nil) }
        let plain = try? SegmentInspection.decrypt(
            bytes,
            key: key,
            initializationVector: encryption.initializationVector
        )
        return (plain, key.count)
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
        guard case .success(let bytes) = await client.bytes(segment.url, segment.byteRange) else { return nil }
        let (plain, _) = await decrypted(bytes, segment.encryption)
        guard let plain else { return nil }
        if initializations.count >= Self.mostKept { initializations = [:] }
        initializations[segment] = plain
        return plain
    }

    /// Resources that segments need and that could not be fetched, asked for once more to learn the reason.
    nonisolated func failures(of segment: MediaSegment) async -> [FetchFailure] {
        var failures: [FetchFailure] = []
        let needed = [segment.encryption?.keyURL, segment.initialization?.url].compactMap(\.self)
        for url in needed {
            let range = segment.initialization?.url == url ? segment.initialization?.byteRange : nil
            if case .failure(let failure) = await client.availability(url, range) {
                failures.append(FetchFailure(.segment, url, failure))
            }
        }
        return failures
    }
}

extension SegmentFetcher {
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
        facts.isEncrypted = segment.encryption?.method == .aes128
        facts.hasInitialization = segment.initialization != nil
        return facts
    }

    private static func failure(_ failure: ResourceClient.Failure) -> SegmentFacts.Failure {
        switch failure {
        case .status(let status): .status(status)
        case .connection(let reason): .connection(reason)
        }
    }

    private static func isText(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: "WEBVTT".utf8) || bytes.starts(with: [0xEF, 0xBB, 0xBF] + Array("WEBVTT".utf8))
    }

    private static func isFragment(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 8 else { return false }
        return ["moof", "styp", "sidx"].contains { bytes[4..<8].elementsEqual($0.utf8) }
    }
}
