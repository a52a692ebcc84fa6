/// Interns names: the same name always gets the same small number, for the life of the process.
///
/// Numbers are only ever compared and used as indices inside one process; what is stored or sent is the name.
package final class NameTable: Sendable {
    private struct State {
        var numbers: [String: UInt32] = [:]
        var names: [String] = []
    }

    private let state = Lock(State())

    /// Creates a table in which `names` have the numbers 0, 1, 2 ….
    package init(_ names: [String] = []) {
        for name in names { _ = number(of: name) }
    }

    /// The number of `name`, which is new if the name has not been seen before.
    package func number(of name: String) -> UInt32 {
        state.withLock { state in
            if let number = state.numbers[name] { return number }
            let number = UInt32(truncatingIfNeeded: state.names.count)
            state.numbers[name] = number
            state.names.append(name)
            return number
        }
    }

    /// The name with that number; empty for a number that this table never gave.
    package func name(of number: UInt32) -> String {
        state.withLock { state in
            let index = Int(number)
            return state.names.indices.contains(index) ? state.names[index] : ""
        }
    }

    /// All names by number, for encoders that look up many.
    package var names: [String] { state.withLock { $0.names } }
}
