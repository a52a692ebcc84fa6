extension SourceText {
    /// The first thousand characters of a text of other software, for example an error message, whose addresses are
    /// shown without their secrets.
    package static func redactedAddresses(in text: String) -> String {
        text.prefix(1000).split(separator: " ", omittingEmptySubsequences: false).map { word in
            // An address may begin inside a word, after a quotation mark or a parenthesis.
            guard let range = word.firstRange(of: "://") else { return String(word) }
            let scheme = word[..<range.lowerBound].reversed().prefix { $0.isASCII && ($0.isLetter || $0.isNumber) }
            let begin = word.index(range.lowerBound, offsetBy: -scheme.count)
            return String(word[..<begin]) + redacted(String(word[begin...]))
        }.joined(separator: " ")
    }
}
