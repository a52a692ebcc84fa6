/// Watches any ``AdPlayer``: its signals become events, its status becomes their attributes.
///
/// ```swift
/// let content = instrument.add(PlayerTracker(player))
/// instrument.add(AdTracker(adPlayer), adsOf: content)
/// ```
///
/// Reports `TrackerInit` when it is added.
public final class AdTracker: Tracker {
    private let player: any AdPlayer

    /// Creates a tracker that watches `player` from when it is added to an instrument until it is removed.
    public init(_ player: some AdPlayer) { self.player = player }

    /// The player's name.
    public var target: String? { player.name }

    /// The fields of the player.
    public var declaredFields: PrivacyCatalogue { player.declaredFields }

    /// Begins to watch.
    public func begin(in context: TrackerContext) {
        // For events that the player does not report: pings, and actions that the app emits.
        context.register(AdStatus.fields.map(\.name)) { [player] in player.status.attributes }
        context.emitInit()
        player.report { signal in
            var attributes = signal.status.attributes
            attributes.merge(signal.attributes)
            context.emit(signal.action, at: signal.instant, attributes: attributes)
        }
    }

    /// Ends the watch.
    public func end() { player.report(to: nil) }
}
