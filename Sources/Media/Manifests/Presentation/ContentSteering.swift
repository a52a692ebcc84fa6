public import InstrumentHTTP

/// The steering server of a presentation, which orders its servers while it is played (HLS: rfc8216bis section 7; DASH:
/// ETSI TS 103 998).
public struct ContentSteering: Hashable, Sendable {
    /// The address of the ``SteeringManifest``.
    public var url: HTTPURL
    /// The names of the servers to use before the steering server has answered, in order (`PATHWAY-ID`,
    /// `@defaultServiceLocation`); empty for the order of the manifest.
    public var initialOrder: [ContentLocations.Location.ID]
    /// Whether to wait for the steering server's answer before anything else is fetched (`@queryBeforeStart`).
    public var isAskedBeforeStart: Bool

    /// Creates the description of a steering server.
    package init(
        url: HTTPURL,
        initialOrder: [ContentLocations.Location.ID] = [],
        isAskedBeforeStart: Bool = false
    ) {
        self.url = url
        self.initialOrder = initialOrder
        self.isAskedBeforeStart = isAskedBeforeStart
    }
}
