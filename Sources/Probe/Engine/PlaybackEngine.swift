internal import Instrument

/// What plays for a ``Probe``; safe from any thread. Positions are nanoseconds.
protocol PlaybackEngine: AnyObject, Sendable {
    var status: PlayerStatus { get }
    var progress: ProbeProgress { get }
    var outcome: ProbeOutcome? { get }
    func report(to observer: (@Sendable (PlayerSignal) -> Void)?)
    func report(requestsTo observer: (@Sendable (RequestRecord) -> Void)?)
    func play()
    func playThrough(advancing clock: VirtualClock) -> ProbeOutcome?
    func waitUntilFinished() async -> ProbeOutcome
    func pause()
    func resume()
    func seek(to position: Int64)
    func setRate(_ rate: Double)
    func stop()
}
