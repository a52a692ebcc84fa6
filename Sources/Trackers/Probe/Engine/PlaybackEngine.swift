internal import Instrument

/// Plays for a ``Probe``; safe from any thread.
protocol PlaybackEngine: AnyObject, Sendable {
    var status: PlayerStatus { get }
    var progress: ProbeProgress { get }
    var outcome: ProbeOutcome? { get }
    /// Whether work is under way that no clock drives: requests, reads, or the delivery of news.
    var isBusy: Bool { get }
    func report(newsTo observer: (@Sendable (PlaybackNews) -> Void)?)
    func report(requestsTo observer: (@Sendable (RequestRecord) -> Void)?)
    func perform(_ command: PlaybackCommand)
    func playThrough(advancing clock: VirtualClock) -> ProbeOutcome?
    /// Returns the outcome once the last signal was delivered; nil if the current task is cancelled before.
    func waitUntilFinished() async -> ProbeOutcome?
}

extension PlaybackEngine {
    /// Reports only the signals.
    func report(to observer: (@Sendable (PlayerSignal) -> Void)?) {
        guard let observer else { return report(newsTo: nil) }
        report(newsTo: { news in if case .signal(let signal) = news { observer(signal) } })
    }
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

    func report(newsTo observer: (@Sendable (PlaybackNews) -> Void)?) { driver.report(newsTo: observer) }

    func waitUntilFinished() async -> ProbeOutcome? {
        await driver.waitUntilFinished() ? outcome ?? .stopped : nil
    }
}
