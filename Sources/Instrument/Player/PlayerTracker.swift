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
        // For events that the player does not report: pings, and actions that the app emits.
        context.register(PlayerStatus.fields.map(\.name)) { [player] in player.status.attributes }
        context.emitInit()
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
}
