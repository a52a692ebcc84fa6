/// A function that reads an attribute's current value.
struct Getter: Sendable {
    /// A function that reads several attributes at once.
    final class SharedStatus: Sendable {
        let read: @Sendable () -> Attributes

        init(_ read: @escaping @Sendable () -> Attributes) { self.read = read }
    }

    enum Source: Sendable {
        case value(@Sendable () -> AttributeValue?)
        case status(SharedStatus)
    }

    let name: AttributeName
    let filter: (@Sendable (Event) -> Bool)?
    let source: Source

    /// Reads the value apart from an event.
    func read() -> AttributeValue? {
        var reading = GetterReading()
        return reading.value(of: self)
    }
}

/// The reading of getters for one event: a status that several getters share is read once.
struct GetterReading {
    private var latest: (status: Getter.SharedStatus, attributes: Attributes)?

    /// Reads the values that an event lacks. The first `givenCount` attributes keep their values.
    static func addValues(of getters: [Getter], to event: inout Event, given givenCount: Int) {
        var reading = GetterReading()
        for getter in getters where !event.attributes.has(getter.name, amongFirst: givenCount) {
            if getter.filter?(event) ?? true, let value = reading.value(of: getter) {
                event.attributes.set(value, for: getter.name)
            }
        }
    }

    mutating func value(of getter: Getter) -> AttributeValue? {
        switch getter.source {
        case .value(let read): return read()
        case .status(let status):
            if let latest, latest.status === status { return latest.attributes[getter.name] }
            let attributes = status.read()
            latest = (status, attributes)
            return attributes[getter.name]
        }
    }
}
