public import Instrument
public import InstrumentHTTP

/// Provides what only the app knows: the environment that events go to, and the metadata of all events.
///
/// Backend and logger keep it alive. All but the metadata is read once, when the backend is made.
public protocol ClickstreamDelegate: AnyObject, Sendable {
    /// The address to which events are sent.
    var environment: ClickstreamEnvironment { get }
    /// The `User-Agent` of every request.
    var userAgent: String { get }
    /// The largest number of events in a request; 10 unless said otherwise.
    var preferredBatchSize: Int { get }
    /// The metadata of every event. Read on the logging thread, for each event, before it is saved; keep it short.
    var metadata: Attributes { get }
}

extension ClickstreamDelegate {
    /// Ten events.
    public var preferredBatchSize: Int { 10 }
    /// None.
    public var metadata: Attributes { Attributes() }
}

/// A place that takes events: production, staging, a private machine.
///
/// The set is open; yours is one line:
///
/// ```swift
/// extension ClickstreamEnvironment {
///     static let staging = ClickstreamEnvironment("staging", endpoint: stagingURL)
/// }
/// ```
public struct ClickstreamEnvironment: Hashable, Sendable, CustomStringConvertible {
    /// The display name.
    package let name: String
    /// The address that requests are posted to.
    package let endpoint: HTTPURL

    /// Creates an environment.
    public init(_ name: String, endpoint: HTTPURL) {
        self.name = name
        self.endpoint = endpoint
    }

    /// The name and the address without secrets.
    public var description: String { "\(name) (\(endpoint))" }
}
