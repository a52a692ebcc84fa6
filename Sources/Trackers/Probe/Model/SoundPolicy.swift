internal import Instrument

/// What a player does where sound and pictures do not arrive together, or the sound has run out.
package struct SoundPolicy: Hashable, Sendable {
    /// The time for which playback continues with sound alone, the last picture being shown, where the video is late.
    package var alone = Duration.zero
    /// The sound that has to be there before playback begins or continues.
    package var reserve = Duration.zero
    /// The largest reserve: it doubles with each stall for which the sound had run out, until the next seek.
    package var largestReserve = Duration.zero
    /// The time by which sound is taken ahead of the playhead, for the sound card: playback stalls that long before the
    /// end of the sound, and a stall needs that much more sound.
    package var outputLead = Duration.zero
    /// Whether the player keeps sound back until the pictures that begin with it arrive, once it has some sound.
    package var followsPictures = false

    /// Creates the policy of a player that does nothing of this.
    package init() {}
}

/// The sound that a playback keeps back, and how much sound it needs.
struct SoundGate: Hashable, Sendable {
    private struct Arrival: Hashable {
        var end: Int64
        var instant: MonotonicInstant
    }

    private let policy: SoundPolicy
    /// The time for which sound plays on alone, in nanoseconds.
    let alone: Int64
    /// The time by which sound is taken ahead of the playhead, in nanoseconds.
    let outputLead: Int64
    private var reserve: Int64
    /// Sound whose pictures have not arrived, in the order of its arrival.
    private var kept: [Arrival] = []

    init(_ policy: SoundPolicy) {
        self.policy = policy
        alone = max(0, policy.alone.nanoseconds)
        outputLead = max(0, policy.outputLead.nanoseconds)
        reserve = policy.reserve.nanoseconds
    }

    /// The sound ahead of the playhead that ends a wait, in nanoseconds.
    func needed(for wait: PlaybackModel.Wait) -> Int64 {
        wait == .stall ? reserve.saturatingAdd(outputLead) : reserve
    }

    /// The sound has run out.
    mutating func ranOut() {
        reserve = max(reserve, min(reserve.saturatingAdd(reserve), policy.largestReserve.nanoseconds))
    }

    /// The playhead has moved.
    mutating func seek() { reserve = policy.reserve.nanoseconds }

    /// The buffer was emptied.
    mutating func flush() { kept = [] }

    /// Keeps sound back if its pictures have not arrived.
    ///
    /// - Parameters:
    ///   - buffered: the end of the sound in the buffer; nil for none.
    ///   - pictures: the end of the pictures in the buffer; nil for none.
    /// - Returns: whether the sound is kept back.
    mutating func keepsBack(to end: Int64, after buffered: Int64?, pictures: Int64?, now: MonotonicInstant) -> Bool {
        guard policy.followsPictures, let start = kept.last?.end ?? buffered,
            Self.precedes(start, end, pictures)
        else { return false }
        kept.append(Arrival(end: end, instant: now))
        return true
    }

    /// Takes the next sound that was kept back, once its pictures have arrived.
    ///
    /// - Parameter pictures: the end of the pictures; `.max` if no more arrive.
    mutating func take(
        after buffered: Int64?,
        pictures: Int64?,
        now: MonotonicInstant
    ) -> (end: Int64, instant: MonotonicInstant)? {
        guard let next = kept.first, !Self.precedes(buffered ?? 0, next.end, pictures) else { return nil }
        kept.removeFirst()
        return (next.end, max(next.instant, now))
    }

    /// Whether sound begins behind the pictures: hls.js 1.7.1, src/controller/buffer-controller.ts:843–882, looks 5 %
    /// of the segment behind its start.
    private static func precedes(_ start: Int64, _ end: Int64, _ pictures: Int64?) -> Bool {
        guard let pictures else { return true }
        return pictures < start.saturatingAdd(max(0, end.saturatingSubtract(start)) / 20)
    }
}
