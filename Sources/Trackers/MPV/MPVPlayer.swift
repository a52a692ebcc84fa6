public import Instrument
internal import InstrumentSockets

/// A running mpv, watched from outside over its JSON IPC.
///
/// ```swift
/// // mpv --input-ipc-server=/run/user/1000/mpv.sock film.mkv
/// let player = try MPVPlayer(socket: "/run/user/1000/mpv.sock")
/// instrument.add(PlayerTracker(player))
/// instrument.ready()
/// player.connect()
/// ```
///
/// The mapping is: `StreamLoad` at `start-file`, `Start` when `core-idle` is first false, buffering by
/// `paused-for-cache`, seeking by `seek` and `playback-restart`, pauses by `pause`, quality by the decoder's picture,
/// `End`, `Error` and `Stop` by the reason of `end-file`. When a playlist continues, a playback ends with `Next`.
///
/// A playback that runs when the connection begins gets its `StreamLoad` and `Start` then, with `joinedLate` and
/// without a start time; a paused playback gets its `Start` when it plays. A player that disconnects without a shutdown
/// message causes an `Error` with `isFatal`; its playback after a new connection is a new one.
///
/// Everything may be called from any thread. Signals come one at a time on a queue of the player's.
public final class MPVPlayer: Player {
    private let session: MPVSession
    /// Sent as `trackerTarget`.
    public var name: String { session.configuration.name }

    /// Watches the mpv that listens at a socket (`--input-ipc-server`), from ``connect()`` on.
    ///
    /// - Parameters:
    ///   - path: the socket's path, of 107 bytes at most on Linux.
    ///   - configuration: how it is watched.
    ///   - clock: times signals, attempts and answers; give the instrument the same.
    ///   - report: receives notices about the connection, on the player's queue.
    /// - Throws: ``MPVError`` if the path is too long.
    public init(
        socket path: String,
        configuration: MPVConfiguration = MPVConfiguration(),
        clock: any SchedulingClock = SystemClock(),
        report: @escaping @Sendable (MPVDiagnostic) -> Void = { _ in }
    ) throws(MPVError) {
        guard !path.isEmpty, path.utf8.count <= UnixSocket.maxPathLength else {
            throw MPVError(
                code: .pathTooLong,
                description: "a socket's path has 1 to \(UnixSocket.maxPathLength) bytes, this one \(path.utf8.count)"
            )
        }
        session = MPVSession(.socket(path: path), configuration, clock, report)
    }

    /// Starts an mpv and watches it, from ``connect()`` on. It ends with ``close()``, and with our process, however
    /// that ends.
    ///
    /// - Parameters:
    ///   - launch: the program and its arguments.
    ///   - configuration: how it is watched; a player that has gone is not started again.
    ///   - clock: times signals and answers; give the instrument the same.
    ///   - report: receives notices about the connection, on the player's queue.
    /// - Throws: ``MPVError`` if it cannot be started.
    public init(
        starting launch: MPVLaunch,
        configuration: MPVConfiguration = MPVConfiguration(),
        clock: any SchedulingClock = SystemClock(),
        report: @escaping @Sendable (MPVDiagnostic) -> Void = { _ in }
    ) throws(MPVError) {
        session = MPVSession(.process(try MPVProcess(launch)), configuration, clock, report)
    }

    deinit { session.close() }

    /// The current status, as mpv last reported it.
    public var status: PlayerStatus { session.state.withLock { $0.model.status } }

    /// The buffered media ahead of the playhead (`demuxer-cache-duration`). For display only; the data model has no
    /// name for it.
    public var bufferedDuration: Duration? { session.state.withLock { $0.model.values.bufferedDuration } }

    /// Whether a playback has started and not ended.
    public var isPlaying: Bool { session.state.withLock { $0.model.phase == .playing } }

    /// Whether it is paused.
    public var isPaused: Bool { session.state.withLock { $0.model.isPaused } }

    /// Whether a player is connected.
    public var isConnected: Bool { session.state.withLock { $0.connection != nil && $0.isHeard } }

    /// Reports signals to `observer`.
    public func report(to observer: (@Sendable (PlayerSignal) -> Void)?) {
        session.state.withLock { $0.observer = observer }
    }

    /// Begins to watch; returns at once. A second call does nothing.
    public func connect() { session.begin() }

    /// Watches no more. A player that we started ends, with a `Stop`; another plays on, and a playback of its gets a
    /// `Detach`.
    public func close() { session.close() }

    /// Waits until watching has ended, after the last signal; for a player that is waited for again and again, until
    /// ``close()``. Returns ``MPVEnding/closed`` early if the current task is cancelled.
    public func waitUntilGone() async -> MPVEnding {
        await session.ended.wait()
        return session.state.withLock { $0.ending } ?? .closed
    }

    /// Pauses, if a player is there.
    public func pause() { session.send(.pause(true)) }

    /// Resumes after a pause.
    public func resume() { session.send(.pause(false)) }

    /// Jumps to a position.
    public func seek(to position: Duration) { session.send(.seek(toSeconds: position.seconds)) }

    /// Plays a file or an address, at once or after the entries of the playlist.
    public func load(_ source: String, appending: Bool = false) { session.send(.load(source, appending: appending)) }

    /// Goes to the playlist's next entry.
    public func next() { session.send(.next) }

    /// Stops playback and empties the playlist.
    public func stop() { session.send(.stop) }

    /// Ends the player.
    public func quit() { session.send(.quit) }
}
