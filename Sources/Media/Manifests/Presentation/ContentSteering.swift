package import InstrumentHTTP

/// The steering server of a presentation, which orders its servers while it is played (HLS: rfc8216bis section 7; DASH:
/// ETSI TS 103 998).
package struct ContentSteering: Hashable, Sendable {
    /// The address of the ``SteeringManifest``; nil where the manifest has its text.
    package var url: HTTPURL?
    /// The text of the first ``SteeringManifest``, where the manifest has it in a `data:` address; nil without it. Its
    /// `RELOAD-URI` names the steering server, if there is one.
    package var text: [UInt8]?
    /// The names of the servers to use before the steering server has answered, in order (`PATHWAY-ID`,
    /// `@defaultServiceLocation`); empty for the order of the manifest.
    package var initialOrder: [ContentLocations.Location.ID]
    /// Whether to wait for the steering server's answer before anything else is fetched (`@queryBeforeStart`).
    package var isAskedBeforeStart: Bool

    /// Creates the description of a steering server.
    package init(
        url: HTTPURL?,
        text: [UInt8]? = nil,
        initialOrder: [ContentLocations.Location.ID] = [],
        isAskedBeforeStart: Bool = false
    ) {
        (self.url, self.text) = (url, text)
        self.initialOrder = initialOrder
        self.isAskedBeforeStart = isAskedBeforeStart
    }
}
