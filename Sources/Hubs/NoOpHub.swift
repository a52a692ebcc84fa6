/// Accepts every event as it is: for instruments that only pass on what trackers report.
public struct NoOpHub: Hub, Hashable {
    /// Creates the hub.
    public init() {}

    /// Accepts.
    public mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict { .accepted }
}
