/// A shape of input that has `n` of something, for the arguments of a test of ``CostGrowth``.
public struct CostShape: Sendable, CustomStringConvertible {
    /// The part that the input has `n` times.
    public let name: String
    /// The `n` of the smaller of the two measured inputs.
    public let size: Int
    /// Returns the input with `n` of it.
    public let text: @Sendable (Int) -> String

    /// The name, which a test shows for its argument.
    public var description: String { name }

    /// Creates a shape.
    public init(name: String, size: Int = 100, text: @escaping @Sendable (Int) -> String) {
        (self.name, self.size, self.text) = (name, size, text)
    }
}
