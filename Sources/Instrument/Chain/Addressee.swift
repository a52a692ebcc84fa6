extension AttributeKey where Value == String {
    /// The one service that a sample is meant for, as ``Sample/isMeant(for:)`` reads it; absent for those that are meant for all.
    ///
    /// The shared queue gives every sample to every backend. What a service's own logger records, a device's properties for
    /// example, is no other service's business: backends that send samples to a service leave out samples for other
    /// services. Console and file show everything. Our addition.
    public static var addressee: Self { "instrument.addressee" }
}

extension Sample {
    /// Whether a backend of the service `name` may send it: it names that service, or none.
    public func isMeant(for name: String) -> Bool {
        attributes[.addressee].map { $0 == name } ?? true
    }
}
