internal import Instrument
internal import InstrumentManifests
internal import InstrumentPictureChecks
internal import InstrumentProbe
internal import InstrumentRules

/// The checks of pictures and sound. Each duration is the shortest interval that is reported; nil disables the check.
package struct MediaCheckConfiguration: Hashable, Sendable {
    /// Black pictures.
    package var black: Duration?
    /// Pictures that do not change.
    package var freeze: Duration?
    /// Silence.
    package var silence: Duration?
    /// Whether the loudness is measured (EBU R 128).
    package var loudness = false
    /// Whether every picture is decoded instead of the keyframes alone.
    package var allPictures = false

    /// Creates a configuration that checks nothing.
    package init() {}

    var needsPictures: Bool { black != nil || freeze != nil }
    var needsSound: Bool { silence != nil || loudness }
}

/// A black, frozen or silent interval of a rendition.
package struct MediaFinding: Hashable, Sendable {
    /// The kind of the finding.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Black pictures.
        case black
        /// Pictures that do not change.
        case freeze
        /// Silence.
        case silence
    }

    /// The kind of the finding.
    package var kind: Kind
    /// The rendition.
    package var rendition: String
    /// The start, in nanoseconds after the first media that were decoded.
    package var start: Int64
    /// The length, in nanoseconds.
    package var length: Int64

    /// The end, in nanoseconds after the first media that were decoded.
    var end: Int64 { start.saturatingAdd(length) }

    /// The finding as a sentence.
    package var message: String {
        let what =
            switch kind {
            case .black: "The picture is black"
            case .freeze: "The picture is frozen"
            case .silence: "The sound is silent"
            }
        return "\(what) for \(length.shownSeconds), from \(start.shownSeconds) after the first decoded media."
    }
}

/// The loudness of the sound that was decoded (EBU R 128), in LUFS.
package struct LoudnessSummary: Hashable, Sendable {
    /// The largest short-term loudness; nil for less than three seconds of sound.
    package var maximumShortTerm: Double?
    /// The smallest short-term loudness; nil for less than three seconds of sound.
    package var minimumShortTerm: Double?
    /// The integrated loudness; nil for silence.
    package var integrated: Double?
}

/// Feeds decoded media of one rendition with pictures and one with sound to the detectors.
struct MediaCheck {
    private let configuration: MediaCheckConfiguration
    private var black: BlackDetector?
    private var freeze: FreezeDetector?
    private var silence: SilenceDetector?
    private var meter: LoudnessMeter?
    private var (pictureRendition, soundRendition): (String?, String?) = (nil, nil)
    private var (pictureOrigin, soundOrigin): (Int64?, Int64?) = (nil, nil)
    private var discontinuity: [String: Int64] = [:]
    private var found: [MediaFinding] = []
    private let keepsPictures: Bool
    /// The latest black and the latest frozen picture.
    private(set) var faulty: [MediaFinding.Kind: FaultyPicture] = [:]

    /// - Parameter keepsPictures: whether black and frozen pictures are kept as evidence.
    init(_ configuration: MediaCheckConfiguration, keepsPictures: Bool = false) {
        (self.configuration, self.keepsPictures) = (configuration, keepsPictures)
        black = configuration.black.map { BlackDetector(minimum: $0) }
        freeze = configuration.freeze.map { FreezeDetector(minimum: $0) }
        silence = configuration.silence.map { SilenceDetector(minimum: $0) }
    }

    var loudness: LoudnessSummary? {
        guard configuration.loudness, let meter else { return nil }
        return LoudnessSummary(
            maximumShortTerm: meter.maximumShortTerm,
            minimumShortTerm: meter.minimumShortTerm,
            integrated: meter.integrated
        )
    }

    /// The loudness of the latest three seconds; nil without a check of loudness, and before three seconds of sound.
    var shortTermLoudness: Double? { configuration.loudness ? meter?.shortTerm : nil }

    /// The intervals that have not ended and are already long enough.
    var current: [MediaFinding] {
        var current: [MediaFinding] = []
        for (kind, interval, origin, rendition) in [
            (MediaFinding.Kind.black, black?.current, pictureOrigin, pictureRendition),
            (.freeze, freeze?.current, pictureOrigin, pictureRendition),
            (.silence, silence?.current, soundOrigin, soundRendition),
        ] {
            // A black picture does not change: one finding is enough.
            if kind == .freeze, current.contains(where: { $0.kind == .black }) { continue }
            guard let interval, let rendition else { continue }
            let start = interval.start.saturatingSubtract(origin ?? interval.start)
            current.append(MediaFinding(kind: kind, rendition: rendition, start: start, length: interval.length))
        }
        return current
    }

    /// How many intervals have ended, by kind.
    var endedCounts: [MediaFinding.Kind: Int] {
        found.reduce(into: [:]) { counts, finding in counts[finding.kind, default: 0] += 1 }
    }

    /// The latest interval of a kind that has ended; nil without one.
    func latest(_ kind: MediaFinding.Kind) -> MediaFinding? { found.last { $0.kind == kind } }

    /// The renditions that are decoded: the lowest with pictures, and the sound that plays beside it.
    func renditions(of presentation: Presentation?) -> Set<String> {
        guard let lowest = presentation?.variants.first else { return [] }
        var names: Set<String> = [lowest.main.description]
        if configuration.needsSound, let audio = lowest.audio.first { names.insert(audio.description) }
        return names
    }

    mutating func decode(_ media: SegmentMedia, of order: SegmentOrder) {
        var options = SegmentDecoder.Options()
        options.pictures = configuration.needsPictures && order.role != .audio
        options.allPictures = configuration.allPictures
        options.sound = configuration.needsSound
        (options.keepsFaultyPicture, options.reference) = (keepsPictures, freeze?.reference)
        guard options.pictures || options.sound else { return }
        let output = SegmentDecoder.decode(media.bytes, initialization: media.initialization, options: options)
        if let known = discontinuity.updateValue(order.segment.discontinuity, forKey: order.rendition),
            known != order.segment.discontinuity
        {
            endIntervals()
        }
        if let picture = output.faulty, pictureRendition.map({ $0 == order.rendition }) ?? true {
            // A black picture does not change, either.
            faulty[.freeze] = picture
            if picture.isBlack { faulty[.black] = picture }
        }
        if !output.pictures.isEmpty { take(output.pictures, of: order.rendition) }
        if !output.sound.isEmpty { take(output.sound, of: order.rendition) }
    }

    private mutating func take(_ pictures: [PictureSummary], of rendition: String) {
        if pictureRendition == nil { pictureRendition = rendition }
        guard rendition == pictureRendition else { return }
        pictureOrigin = pictureOrigin ?? pictures.first?.time
        for picture in pictures {
            if let interval = black?.take(picture) { add(.black, interval, pictureOrigin, rendition) }
            if let interval = freeze?.take(picture) { add(.freeze, interval, pictureOrigin, rendition) }
        }
    }

    private mutating func take(_ buffers: [SoundBuffer], of rendition: String) {
        if soundRendition == nil { soundRendition = rendition }
        guard rendition == soundRendition else { return }
        soundOrigin = soundOrigin ?? buffers.first?.time
        for buffer in buffers {
            if configuration.loudness {
                if meter == nil {
                    meter = LoudnessMeter(sampleRate: buffer.sampleRate, channelCount: buffer.channels.count)
                }
                meter?.take(buffer)
            }
            for interval in silence?.take(buffer) ?? [] { add(.silence, interval, soundOrigin, rendition) }
        }
    }

    /// Ends the intervals and returns everything that was found.
    mutating func finish() -> [MediaFinding] {
        endIntervals()
        return found.filter { $0.kind != .freeze || !isBlack(during: $0) }
            .sorted { ($0.start, $0.kind.rawValue) < ($1.start, $1.kind.rawValue) }
    }

    /// Whether a frozen interval is a black one that has ended: a black picture does not change, and one finding is
    /// enough.
    func isBlack(during freeze: MediaFinding) -> Bool {
        found.contains { finding in
            finding.kind == .black && finding.start <= freeze.start.saturatingAdd(1_000_000_000)
                && finding.end >= freeze.end.saturatingSubtract(1_000_000_000)
        }
    }

    private mutating func endIntervals() {
        if let interval = black?.finish() { add(.black, interval, pictureOrigin, pictureRendition) }
        if let interval = freeze?.finish() { add(.freeze, interval, pictureOrigin, pictureRendition) }
        if let interval = silence?.finish() { add(.silence, interval, soundOrigin, soundRendition) }
    }

    private mutating func add(
        _ kind: MediaFinding.Kind,
        _ interval: MediaInterval,
        _ origin: Int64?,
        _ rendition: String?
    ) {
        // Bounded, however long the stream flickers.
        guard found.count < 1_000, let rendition else { return }
        found.append(
            MediaFinding(
                kind: kind,
                rendition: rendition,
                start: interval.start.saturatingSubtract(origin ?? interval.start),
                length: interval.length
            )
        )
    }
}
