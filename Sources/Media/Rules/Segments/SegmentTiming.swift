internal import Instrument

/// The times of the media of a segment beside those that the playlist or MPD declares, in nanoseconds.
struct SegmentTiming {
    /// The track that decides; nil without media.
    private let media: SegmentFacts.Track?
    private let wrap: Int64?
    private let declaredDuration: Int64
    private let declaredMediaTime: Int64?
    private let trimmedStart: Int64
    private let trimmedEnd: Int64

    init(of facts: SegmentFacts) {
        (media, wrap) = (facts.main, facts.wrap)
        (declaredDuration, declaredMediaTime) = (facts.declaredDuration, facts.declaredMediaTime)
        (trimmedStart, trimmedEnd) = (facts.trimmedStart, facts.trimmedEnd)
    }

    /// The difference of two timestamps, with a wrap taken into account.
    static func distance(from other: Int64, to mine: Int64, wrap: Int64?) -> Int64 {
        let difference = mine.saturatingSubtract(other)
        guard let wrap, wrap > 0 else { return difference }
        let rest = difference % wrap
        return rest > wrap / 2 ? rest - wrap : rest < -wrap / 2 ? rest + wrap : rest
    }

    /// The declared duration, with the media of the segment outside its period.
    private var longestDuration: Int64 {
        declaredDuration.saturatingAdd(trimmedStart).saturatingAdd(trimmedEnd)
    }

    /// The duration of all media of the segment, as far as its declaration permits it.
    var mediaDuration: Int64 {
        let found = media.map { $0.end.saturatingSubtract($0.start) }
        return min(max(found ?? longestDuration, declaredDuration), longestDuration)
    }

    /// The difference of the duration of the media to the nearest permitted one; nil without media.
    var durationError: Int64? {
        media.map { $0.end.saturatingSubtract($0.start).saturatingSubtract(mediaDuration) }
    }

    /// The difference of the start of the media to the nearest permitted one; nil without media, or where the manifest
    /// does not say.
    var startError: Int64? {
        guard let declaredMediaTime, let media else { return nil }
        let shift = Self.distance(from: declaredMediaTime, to: media.start, wrap: wrap)
        return shift < 0 ? min(0, shift.saturatingAdd(trimmedStart)) : shift
    }

    /// The difference of the media to their declared duration that is no fault.
    ///
    /// - Parameter isExact: whether a playlist or a timeline declares the duration. With `@duration`, segments may
    ///   deviate by half of it.
    func durationTolerance(isExact: Bool) -> Int64 {
        isExact ? max(250_000_000, declaredDuration / 10) : declaredDuration / 2 + 250_000_000
    }

    /// Whether the times of the media are in another unit than declared: all frames are far apart.
    var isOutOfScale: Bool {
        guard let media, declaredDuration > 0 else { return false }
        let found = media.end.saturatingSubtract(media.start)
        return found / 10 > declaredDuration && media.largestGap < found / 2
    }

    /// Whether the media are shorter than declared, which is a fault.
    func endsEarly(isExact: Bool) -> Bool {
        durationError.map { $0 < 0 && $0.magnitude > durationTolerance(isExact: isExact).magnitude } ?? false
    }
}
