internal import ArgumentParser
internal import InstrumentQuality

/// Dialects on the command line.
struct DialectOption: ExpressibleByArgument {
    /// One dialect, or every dialect for `all`.
    let dialects: [Dialect]

    init?(argument: String) {
        if argument == "all" {
            dialects = Dialect.all
        } else if let dialect = Dialect.named(argument) {
            dialects = [dialect]
        } else {
            return nil
        }
    }

    static var allValueStrings: [String] { Dialect.all.map(\.name) + ["all"] }

    /// The dialects of several options, each once, in the order of the library.
    static func selected(by options: [DialectOption]) -> [Dialect] {
        let names = Set(options.flatMap { $0.dialects.map(\.name) })
        return Dialect.all.filter { names.contains($0.name) }
    }
}
