internal import Instrument

/// Plays for a ``Probe``; safe from any thread.
protocol PlaybackEngine: AnyObject, Sendable {
    var status: PlayerStatus { get }
    var progress: ProbeProgress { get }
    var outcome: ProbeOutcome? { get }
    func report(to observer: (@Sendable (PlayerSignal) -> Void)?)
    func report(requestsTo observer: (@Sendable (RequestRecord) -> Void)?)
    func perform(_ command: PlaybackCommand)
    func playThrough(advancing clock: VirtualClock) -> ProbeOutcome?
    /// Returns the outcome once the last signal was delivered; nil if the current task is cancelled before.
    func waitUntilFinished() async -> ProbeOutcome?
}

/// An engine whose playback a ``PlaybackDriver`` holds.
protocol DrivenEngine: PlaybackEngine {
    associatedtype Playback: DrivenPlayback
    var driver: PlaybackDriver<Playback> { get }
}

extension DrivenEngine {
    var status: PlayerStatus { driver.look { playback, now in playback.session.status(at: now) } }
    var progress: ProbeProgress { driver.look { playback, now in playback.session.progress(at: now) } }
    var outcome: ProbeOutcome? { driver.look { playback, _ in playback.session.outcome } }

    func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { driver.report(to: observer) }

    func waitUntilFinished() async -> ProbeOutcome? {
        await driver.waitUntilFinished() ? outcome ?? .stopped : nil
    }
}
