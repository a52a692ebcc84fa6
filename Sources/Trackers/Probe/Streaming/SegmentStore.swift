internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// A cache of initialization sections and keys, which many segments share.
struct SegmentStore: Sendable {
    private static let capacity = 16
    /// The largest size of the cache. Initialization sections have kilobytes; those of megabytes are removed early and
    /// fetched again.
    private static let byteCapacity = 32 << 20

    private struct Section {
        let segment: InitializationSegment
        let bytes: [UInt8]
        /// Until when a cache uses the section again.
        let freshUntil: MonotonicInstant
    }

    /// Whether the player asks for the section of a rendition again that follows another one.
    private let asksAgain: Bool
    private var sections: [Section] = []
    /// The section that a track has asked for last, since the start or the last seek.
    private var entered: [StreamRole: InitializationSegment] = [:]
    private var keys: [(url: HTTPURL, bytes: [UInt8])] = []
    private var reader = SegmentReader()

    init(asksAgain: Bool = false) { self.asksAgain = asksAgain }

    func bytes(of segment: InitializationSegment) -> [UInt8]? { sections.last { $0.segment == segment }?.bytes }

    /// Whether the initialization section of a segment is there, if the segment has one.
    func isReady(for segment: MediaSegment) -> Bool { segment.initialization.map { bytes(of: $0) != nil } ?? true }

    func key(at url: HTTPURL) -> [UInt8]? { keys.last { $0.url == url }?.bytes }

    mutating func keep(
        _ bytes: [UInt8],
        of segment: InitializationSegment,
        for role: StreamRole,
        freshUntil: MonotonicInstant = MonotonicInstant(nanoseconds: 0)
    ) {
        if sections.count >= Self.capacity { sections.removeFirst() }
        sections.append(Section(segment: segment, bytes: bytes, freshUntil: freshUntil))
        entered[role] = segment
        // Video and audio each need a section at the same time.
        while sections.count > 2, sections.reduce(0, { $0 + $1.bytes.count }) > Self.byteCapacity {
            sections.removeFirst()
        }
    }

    /// A track continues with a segment of this section, which it asks for again if the last one was another one.
    mutating func enter(_ segment: InitializationSegment?, _ role: StreamRole, at now: MonotonicInstant) {
        guard asksAgain, let segment, entered[role] != segment else { return }
        if sections.contains(where: { $0.segment == segment && now < $0.freshUntil }) { return entered[role] = segment }
        sections.removeAll { $0.segment == segment }
    }

    /// After a seek outside the buffer, each track asks for its section again.
    mutating func leave() { entered = [:] }

    mutating func keep(key: [UInt8], at url: HTTPURL) {
        if keys.count >= Self.capacity { keys.removeFirst() }
        keys.append((url, key))
    }
}

// MARK: Segments
extension SegmentStore {
    /// The next step for a segment.
    enum Need: Hashable, Sendable {
        case fetch(FetchPurpose, HTTPURL, ByteRange?)
        /// The segment has an encryption that the probe cannot remove, given by its name.
        case unsupported(encryption: String)
    }

    /// The next request for a segment: its key, its initialization section, or the segment itself.
    func need(of segment: MediaSegment, _ role: StreamRole) -> Need {
        if let encryption = segment.encryption, let need = need(of: encryption, role) { return need }
        if let initialization = segment.initialization, bytes(of: initialization) == nil {
            // A key for whole segments in front of the section encrypts it, too (RFC 8216, section 4.3.2.5).
            if let encryption = initialization.encryption, encryption.coversContainer,
                let need = need(of: encryption, role)
            {
                return need
            }
            return .fetch(.initialization(role), initialization.url, initialization.byteRange)
        }
        return .fetch(.segment(role), segment.url, segment.byteRange)
    }

    /// The request for a missing key; nil for encrypted samples whose key is a matter of a licence. Otherwise a player
    /// needs the key of encrypted samples, too, and the probe measures how long it takes.
    private func need(of encryption: SegmentEncryption, _ role: StreamRole) -> Need? {
        if case .unsupported(let method) = encryption.method { return .unsupported(encryption: method) }
        if encryption.key != nil { return nil }
        guard let url = encryption.keyURL else {
            return encryption.coversContainer ? .unsupported(encryption: "unknown method") : nil
        }
        return key(at: url) == nil ? .fetch(.key(role), url, nil) : nil
    }

    /// Decrypts a complete segment, and demuxes it after its initialization section.
    mutating func open(
        _ response: ResourceResponse,
        _ range: ByteRange?,
        of segment: MediaSegment,
        inspecting isInspected: Bool,
        request: Int? = nil
    ) throws(ResourceFailure) -> SegmentContent {
        let bytes = try plain(response, range, of: segment)
        do throws(SegmentDemuxer.Failure) {
            return try reader.read(
                bytes,
                initialization: initialization(of: segment),
                inspecting: isInspected,
                request: request
            )
        } catch {
            let found = ManifestContent(bytes.array).replacement
            throw .wrongContent(error.message(contentType: response.contentType, found: found))
        }
    }

    /// The bytes of a complete segment, decrypted if the whole segment is encrypted.
    func plain(
        _ response: ResourceResponse,
        _ range: ByteRange?,
        of segment: MediaSegment
    ) throws(ResourceFailure) -> FetchedBytes {
        try decrypted(response.part(range), segment.encryption, "segment")
    }

    /// The bytes of a complete initialization section, decrypted if it is encrypted.
    func plain(
        _ response: ResourceResponse,
        _ range: ByteRange?,
        of section: InitializationSegment
    ) throws(ResourceFailure) -> [UInt8] {
        try decrypted(response.part(range), section.encryption, "initialization section").array
    }

    private func decrypted(
        _ bytes: FetchedBytes,
        _ encryption: SegmentEncryption?,
        _ name: String
    ) throws(ResourceFailure) -> FetchedBytes {
        guard let encryption, encryption.coversContainer,
            let key = encryption.key ?? encryption.keyURL.flatMap({ key(at: $0) })
        else { return bytes }
        let vector = encryption.initializationVector
        guard let plain = SegmentCipher.decrypt(bytes.array, key: key, initializationVector: vector) else {
            throw .wrongContent("the \(name) cannot be decrypted with its key; check the key's address")
        }
        return FetchedBytes(plain)
    }

    /// Demuxes the first part of a segment; nil if the part holds no media yet.
    ///
    /// - Parameter request: the number of the request that fetches the segment.
    mutating func open(part bytes: FetchedBytes, of segment: MediaSegment, request: Int) -> SegmentContent? {
        reader.read(part: bytes, initialization: initialization(of: segment), request: request)
    }

    private func initialization(of segment: MediaSegment) -> [UInt8] {
        segment.initialization.flatMap { bytes(of: $0) } ?? []
    }
}

extension ResourceResponse {
    /// The requested part of the body, or less where the resource ends before.
    func start(of range: ByteRange?) throws(ResourceFailure) -> FetchedBytes {
        guard var range, let length = range.length else { return try part(range) }
        guard status == 200 else { return body }
        let rest = Int64(body.count).saturatingSubtract(range.offset)
        range.length = rest > 0 ? min(length, rest) : length
        return try part(range)
    }

    /// The requested part of the body, also where the server has sent the whole resource. Of other parts than the
    /// requested one, the transport tells; a shorter one may end with the file.
    func part(_ range: ByteRange?) throws(ResourceFailure) -> FetchedBytes {
        guard let range else { return body }
        let count = Int64(body.count)
        guard status == 200 else {
            guard let length = range.length, count < length else { return body }
            guard status == 206 else {
                throw .wrongContent(
                    "the server sent status \(status) with \(count) bytes for the byte range \(range.interval); "
                        + "check the server's answer"
                )
            }
            throw .wrongContent(
                "the server sent \(count) of the \(length) requested bytes \(range.interval), behind which the file ends; "
                    + "check the playlist's byte ranges"
            )
        }
        let end = range.length.map { range.offset.saturatingAdd($0) } ?? count
        guard range.offset >= 0, range.offset < end, end <= count,
            let part = body.part(Int(range.offset)..<Int(end))
        else {
            throw .wrongContent(
                "the server sent \(count) bytes, which do not contain the requested bytes \(range.offset)..<\(end); "
                    + "check the playlist's byte ranges"
            )
        }
        return part
    }
}

extension ResourceFailure {
    /// Creates the failure of a resource with a wrong content, for which a retry cannot help.
    static func wrongContent(_ message: String) -> ResourceFailure {
        ResourceFailure(failure: .connection, isWrongContent: true, message: message, isFinal: true)
    }

    init(_ error: ManifestError) {
        self.init(failure: .connection, manifest: error, message: error.description, isFinal: true)
    }
}

extension SegmentDemuxer.Failure {
    /// - Parameter found: what came in the place of media, as a noun; nil if the bytes do not tell.
    func message(contentType: String?, found: String?) -> String {
        let kind = contentType.map { " (Content-Type: \($0))" } ?? ""
        switch self {
        case .unknownFormat:
            let found = found ?? "not media of a known format"
            return "the segment is \(found)\(kind); check the server's answer"
        case .noTracks(let codecs) where !codecs.isEmpty:
            let names = codecs.joined(separator: " and ")
            return "the segment's only tracks are \(names), which the probe cannot demux; choose another rendition"
        case .noTracks: return "the segment has neither a video nor an audio track\(kind); check the packager"
        case .outOfMemory: return "the system has no memory to demux the segment"
        }
    }
}
