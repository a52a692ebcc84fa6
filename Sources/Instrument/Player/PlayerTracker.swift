/// Watches any ``Player``: its signals become events, its status their attributes.
///
/// Reports `TrackerInit` and `PlayerSet` when it is added, and `PlayerReady` when the instrument is ready.
public final class PlayerTracker: Tracker {
    private let player: any Player
    private let context = Lock<TrackerContext?>(nil)

    /// Creates a tracker that watches `player` from when it is added to an instrument until it is removed.
    public init(_ player: some Player) { self.player = player }

    /// The player's name.
    public var target: String? { player.name }

    /// The player's.
    public var declaredFields: PrivacyCatalogue { player.declaredFields }

    /// Begins to watch.
    public func begin(in context: TrackerContext) {
        self.context.withLock { $0 = context }
        registerGetters(in: context)
        context.emit(.trackerInit)
        player.report { signal in
            var attributes = signal.status?.attributes ?? Attributes()
            attributes.merge(signal.attributes)
            context.emit(signal.action, at: signal.instant, attributes: attributes)
        }
        context.emit(.playerSet)
    }

    /// Reports `PlayerReady`: the app may start playback.
    public func ready() { context.withLock { $0 }?.emit(.playerReady) }

    /// Watches no more.
    public func end() { player.report(to: nil) }

    private func registerGetters(in context: TrackerContext) {
        let player = player
        context.register(.position) { player.status.position }
        context.register(.duration) { player.status.duration }
        context.register(.resolutionWidth) { player.status.resolutionWidth }
        context.register(.resolutionHeight) { player.status.resolutionHeight }
        context.register(.bitrate) { player.status.bitrate }
        context.register(.fps) { player.status.framesPerSecond }
        context.register(.volume) { player.status.volume }
        context.register(.isMuted) { player.status.isMuted }
        context.register(.language) { player.status.language }
        context.register(.subtitles) { player.status.subtitles }
        context.register(.title) { player.status.title }
        context.register(.source) { player.status.source }
    }
}
