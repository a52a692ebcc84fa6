/// A broken promise of a contract.
public struct ContractViolation: Error, Hashable, Sendable, CustomStringConvertible {
    /// The broken promise, as the contract states it.
    public let promise: String
    /// The contract's finding.
    public let finding: String

    /// The promise and the finding.
    public var description: String { "broken promise: \(promise). Found: \(finding)." }

    init(_ promise: String, _ finding: String) {
        self.promise = promise
        self.finding = finding
    }
}

/// Throws a violation of `promise` unless it is kept.
func require(
    _ isKept: Bool,
    _ promise: String,
    _ finding: @autoclosure () -> String
) throws(ContractViolation) {
    if !isKept { throw ContractViolation(promise, finding()) }
}
