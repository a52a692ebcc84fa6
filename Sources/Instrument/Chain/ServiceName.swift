/// The name of a service that backends send samples to, for example `sift`.
///
/// A sample that was appended for a service (``BatchQueue/append(_:for:)``) is delivered to the backends of that
/// service (``Backend/service``), and to the backends that name no service, such as consoles and files. The backends of
/// other services never receive it. Two backends may have the same service; a service's name is independent of a
/// backend's.
public struct ServiceName: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The spelling.
    public let description: String
    /// Creates a name.
    public init(_ spelling: String) { description = spelling }
    /// Creates a name.
    public init(stringLiteral spelling: String) { description = spelling }
}

extension AttributeName {
    /// The reserved attribute under which a store keeps the service's name.
    ///
    /// Part of the stored form, also of earlier builds. A ``SampleRecord`` removes it from the sample.
    static let service = AttributeName("instrument.addressee")
}

extension Sample {
    /// Returns the sample as a store keeps it, with the service's name.
    package func addressed(to service: ServiceName?) -> Sample {
        guard let service else { return self }
        var sample = self
        sample.attributes[.service] = .string(service.description)
        return sample
    }

    /// Whether the sample has the service's name. Copies nothing, because each delivered sample passes here.
    var hasService: Bool {
        switch self {
        case .event(let event): event.attributes.has(.service)
        case .metric(let metric): metric.attributes.has(.service)
        }
    }

    /// Removes the service's name, and returns it.
    mutating func removeService() -> ServiceName? {
        guard let value = attributes[.service] else { return nil }
        attributes.remove(.service)
        if case .string(let name) = value { return ServiceName(name) }
        return nil
    }
}
