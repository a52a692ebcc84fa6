internal import Instrument

/// How names are written: a small number for those of the vocabulary, the spelling for all others.
///
/// The list belongs to the record format: names are only ever added at its end, or what was written before would be read
/// as something else. It is independent of the order in which the program interns names.
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

    /// What is written for each interned name, made when it is first needed.
    private var known: ContiguousArray<[UInt8]?> = []

    /// The bytes of an attribute's name: its number, or 0, the length and the spelling.
    mutating func bytes(of name: AttributeName) -> [UInt8] {
        let index = Int(name.number)
        if index < known.count, let bytes = known[index] { return bytes }
        let bytes = Self.bytes(name.spelling, number: Self.attributeNumbers[name.number])
        // A flood of names must not fill the memory; those beyond are made anew each time.
        if index < 1 << 16 {
            while known.count <= index { known.append(nil) }
            known[index] = bytes
        }
        return bytes
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
        if number == nil {
            appendVarint(UInt64(spelling.utf8.count), to: &bytes)
            bytes.append(contentsOf: spelling.utf8)
        }
        return bytes
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
