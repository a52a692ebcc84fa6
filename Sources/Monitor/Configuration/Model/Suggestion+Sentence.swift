internal import InstrumentText

extension Suggestion {
    /// A sentence with the most similar known word, or with all known words; begins with a space. Empty without known
    /// words.
    static func sentence(for word: String, in known: some Collection<String>) -> String {
        if let nearest = nearest(to: word, in: known) { return " Did you mean `\(nearest)`?" }
        let list = known.sorted()
        if list.isEmpty { return "" }
        let shown = list.prefix(12).map { "`\($0)`" }.joined(separator: ", ")
        return " Expected \(list.count > 1 ? "one of " : "")\(shown)\(list.count > 12 ? ", …" : "")."
    }
}
