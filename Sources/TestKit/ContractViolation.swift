/// A promise that a component does not keep.
public struct ContractViolation: Error, Hashable, Sendable, CustomStringConvertible {
    /// The promise, and how it was broken.
    public let description: String

    init(_ description: String) { self.description = description }
}
