internal import Instrument

/// The encoding of names: a small number for names of the vocabulary, the spelling for all other names.
///
/// The list belongs to the record format. Add names only at its end: any other change would alter the meaning of
/// existing records. The list is independent of the order in which the program interns names.
struct NameCodec {
    /// Attribute names of record format 1, in the order of their numbers.
    private static let attributes: [AttributeName] =
        [
            "trackerTarget", "streamId", "playbackId", "senderId", "isAdsTracker", "title", "source", "countErrors",
            "countStarts", "countAds", "accumPauseTime", "accumBufferTime", "accumSeekTime", "accumPlayTime",
            "deltaPlayTime", "inPlaybackBlock", "inPauseBlock", "inSeekBlock", "inBufferBlock", "inAdBreakBlock",
            "inAdBlock", "position", "duration", "resolutionWidth", "resolutionHeight", "bitrate", "fps", "volume",
            "isMuted", "language", "subtitles", "errorDescription", "isFatal", "adPosition", "adDuration",
            "adBufferedTime", "adVolume", "adRoll", "adDescription", "adId", "adTitle", "adAdvertiserName",
            "adCreativeId", "adBitrate", "adResolutionWidth", "adResolutionHeight", "adSystem",
        ] + actions.map { AttributeName("timeSince" + $0.name) }

    /// Actions of record format 1.
    private static let actions: [Action] =
        [
            "TrackerInit", "PlayerSet", "PlayerReady", "MediaRequest", "PrepareItem", "ManifestLoad", "StreamLoad",
            "Start", "BufferBegin", "BufferFinish", "SeekBegin", "SeekFinish", "PauseBegin", "PauseFinish",
            "ForwardBegin", "ForwardFinish", "RewindBegin", "RewindFinish", "QualityChangeUp", "QualityChangeDown",
            "Stop", "End", "Next", "Error", "Ping", "AdBreakBegin", "AdBreakFinish", "AdBegin", "AdFinish",
            "AdPauseBegin", "AdPauseFinish", "AdBufferBegin", "AdBufferFinish", "AdSkip", "AdClick",
            "AdFirstQuartile", "AdSecondQuartile", "AdThirdQuartile", "AdError",
        ].map { Action($0) }

    private static let attributeNumbers = Dictionary(
        uniqueKeysWithValues: attributes.enumerated().map { ($1.number, $0 + 1) }
    )
    private static let actionNumbers = Dictionary(uniqueKeysWithValues: actions.enumerated().map { ($1, $0 + 1) })

    /// The encoded form of each interned name, computed at the first use; empty before.
    private var known: ContiguousArray<PackedBytes> = []

    /// Writes an attribute's name: its number, or 0 with the length and the spelling.
    @inline(__always)
    mutating func write(_ name: AttributeName, to writer: inout RecordWriter) {
        let index = Int(name.number)
        if index < known.count, known[index].count > 0 {
            writer.packed(known[index])
        } else {
            learn(name, writingTo: &writer)
        }
    }

    /// Passes the encoded form of each interned name, by its number, to `body`; empty for a name that was not written
    /// before.
    @inline(__always)
    func withKnown<Result>(_ body: (UnsafeBufferPointer<PackedBytes>) -> Result) -> Result {
        known.withUnsafeBufferPointer(body)
    }

    @inline(never)
    private mutating func learn(_ name: AttributeName, writingTo writer: inout RecordWriter) {
        let bytes = Self.bytes(name.spelling, number: Self.attributeNumbers[name.number])
        bytes.withUnsafeBytes { writer.bytes($0) }
        let index = Int(name.number)
        // Long names, and names beyond a limit that protects the memory, are encoded each time.
        guard index < 1 << 16, let packed = PackedBytes(bytes) else { return }
        while known.count <= index { known.append(PackedBytes()) }
        known[index] = packed
    }

    /// The bytes of an action's name.
    static func bytes(of action: Action) -> [UInt8] { bytes(action.name, number: actionNumbers[action]) }

    static func attribute(_ number: Int) -> AttributeName? {
        attributes.indices.contains(number - 1) ? attributes[number - 1] : nil
    }

    static func action(_ number: Int) -> Action? { actions.indices.contains(number - 1) ? actions[number - 1] : nil }

    static func bytes(_ spelling: String, number: Int?) -> [UInt8] {
        var bytes: [UInt8] = []
        appendVarint(UInt64(number ?? 0), to: &bytes)
        if number == nil { append(spelling, to: &bytes) }
        return bytes
    }

    /// Appends a text with its length.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        appendVarint(UInt64(text.utf8.count), to: &bytes)
        bytes.append(contentsOf: text.utf8)
    }

    private static func appendVarint(_ number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

/// Up to 16 bytes that are copied as two words.
struct PackedBytes {
    private(set) var words: (UInt64, UInt64) = (0, 0)
    private(set) var count = 0

    init() {}

    /// nil if there are more than 16 bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= 16 else { return nil }
        count = bytes.count
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
    }
}
