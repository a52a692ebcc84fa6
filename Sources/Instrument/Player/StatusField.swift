/// A member of a player's status, under its name in the data model.
struct StatusField<Status: Sendable>: Sendable {
    let name: AttributeName
    /// Returns the member; nil if the player does not report it.
    let value: @Sendable (Status) -> AttributeValue?

    init<Value: AttributeValueConvertible>(_ key: AttributeKey<Value>, _ read: @escaping @Sendable (Status) -> Value?) {
        name = key.name
        value = { read($0)?.attributeValue }
    }
}

extension Array {
    /// The members of a status that the player reports.
    func attributes<Status>(of status: Status, capacity: Int) -> Attributes where Element == StatusField<Status> {
        var attributes = Attributes(exactCapacity: capacity)
        for field in self {
            if let value = field.value(status) { attributes.set(value, for: field.name) }
        }
        return attributes
    }
}
