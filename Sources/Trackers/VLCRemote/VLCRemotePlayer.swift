public import Instrument
internal import InstrumentText

/// A running VLC 3, watched from outside over its HTTP interface.
///
/// ```swift
/// // vlc --extraintf http --http-host 127.0.0.1 --http-password secret film.mkv
/// let player = VLCRemotePlayer(port: 8080, password: "secret")
/// instrument.add(PlayerTracker(player))
/// instrument.ready()
/// player.connect()
/// ```
///
/// The interface has no events: the player is asked every 200 ms, and VLC computes its own figures every 250 ms. So
/// instants are up to 0.5 s early or late, and what lasts less than a second may not be seen. `docs/players.md` has
/// what the interface cannot tell: a media that cannot be opened, why a playback ends early, and whether a VLC that has
/// gone has quit or crashed.
///
/// Everything may be called from any thread. Signals come one at a time on a queue of the player's.
public final class VLCRemotePlayer: Player {
    private let session: VLCRemoteSession
    /// Sent as `trackerTarget`.
    public var name: String { session.configuration.name }

    /// Watches the VLC whose HTTP interface listens at a port, from ``connect()`` on, until it goes away.
    ///
    /// - Parameters:
    ///   - host: where it runs. The interface has no encryption.
    ///   - port: the value of `--http-port`.
    ///   - password: the value of `--http-password`.
    ///   - clock: times signals and questions; give the instrument the same.
    public init(
        host: String = "127.0.0.1",
        port: UInt16 = 8080,
        password: String,
        clock: any SchedulingClock = SystemClock()
    ) {
        let question = VLCQuestion(address: HostPort(host: host, port: port), password: password)
        session = VLCRemoteSession(question, VLCRemoteConfiguration(), clock) { _ in }
    }

    /// Watches the VLC at an address, `PORT` on this machine or `HOST:PORT`.
    ///
    /// - Parameters:
    ///   - configuration: how it is watched.
    ///   - report: receives notices about the connection, on the player's queue.
    package init(
        at address: String,
        password: String,
        configuration: VLCRemoteConfiguration = VLCRemoteConfiguration(),
        clock: any SchedulingClock = SystemClock(),
        report: @escaping @Sendable (VLCRemoteDiagnostic) -> Void = { _ in }
    ) throws(VLCRemoteError) {
        let isPort = address.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard let place = HostPort(isPort ? "127.0.0.1:" + address : address, defaultPort: nil) else {
            throw VLCRemoteError(
                code: .badAddress,
                description:
                    "the player's address must be PORT or HOST:PORT, with the PORT of --http-port "
                    + "(found '\(address.excerpt())')"
            )
        }
        let question = VLCQuestion(address: place, password: password)
        session = VLCRemoteSession(question, configuration, clock, report)
    }

    deinit { session.close() }

    /// The current status: the playhead runs on from the latest answer.
    public var status: PlayerStatus { session.status }

    /// Whether the player answers.
    package var isConnected: Bool { session.isConnected }

    /// Whether a playback has started and not ended.
    public var isPlaying: Bool { session.outlet.read { $0.phase == .playing } }

    /// Whether the playback is paused.
    public var isPaused: Bool { session.outlet.read { $0.isPaused } }

    /// Reports signals to `observer`.
    public func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { session.listen(observer) }

    /// Begins to watch; returns at once. A second call does nothing.
    public func connect() { session.begin() }

    /// Watches no more. The player plays on, and a playback of its gets a `Detach`.
    public func close() { session.close() }

    /// Waits until watching has ended, after the last signal. Returns ``VLCRemoteEnding/closed`` early if the current
    /// task is cancelled.
    package func waitUntilGone() async -> VLCRemoteEnding { await session.waitUntilGone() }
}
