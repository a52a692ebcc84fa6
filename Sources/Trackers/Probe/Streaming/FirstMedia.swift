internal import Instrument

/// How far a browser's player is with its first media: what reads it takes time to start, and separate sound and
/// pictures are appended together.
struct FirstMedia: Hashable, Sendable {
    private let startOfReader: Duration
    private let lookOfAudio: FirstAudioLook?
    /// The begin of the rhythm in which audio looks.
    private var begun: MonotonicInstant?
    /// When the reader was started.
    private var readerBegun: MonotonicInstant?
    /// When the first pictures were read.
    private var picturesRead: MonotonicInstant?
    private var soundArrival: MonotonicInstant?
    private var lastArrival: MonotonicInstant?

    init(_ profile: PlayerProfile) {
        startOfReader = profile.firstProcessing
        lookOfAudio = profile.pacing.firstAudioLook
    }

    /// The player requests its first media playlist.
    mutating func begins(at instant: MonotonicInstant) { begun = begun ?? instant }

    /// The first segment of a track has arrived; returns the time that the player reads it.
    ///
    /// - Parameter work: the time for which the player works on any segment like it.
    mutating func arrived(_ role: StreamRole, work: Duration, at instant: MonotonicInstant) -> Duration {
        let hasStarted = readerBegun.map { $0.duration(to: instant) } ?? .zero
        let time = max(startOfReader - hasStarted, min(work, startOfReader))
        readerBegun = readerBegun ?? instant
        lastArrival = instant
        if role == .main { picturesRead = instant.advanced(by: time) } else { soundArrival = instant }
        return time
    }

    /// When the first pictures and the first sound, which are fetched apart, are appended; nil before both have
    /// arrived, and where neither waits for the other.
    var appended: MonotonicInstant? {
        guard let look = lookOfAudio, let begun, let picturesRead, let soundArrival else { return nil }
        let ready = soundArrival < picturesRead ? begun.next(after: picturesRead, every: look.interval) : soundArrival
        return ready.advanced(by: look.append)
    }

    /// The time from the last arrival until both are appended.
    var wait: Duration? {
        guard let appended, let lastArrival else { return nil }
        return lastArrival.duration(to: appended)
    }
}
