/// Finds the known words that a misspelled word may stand for.
package enum Suggestion {
    /// Texts beyond this number of bytes are no typing errors, and comparing them would take long.
    private static let longestWord = 64
    /// The number of known words that are compared.
    private static let mostWords = 1_000

    /// The known words that are similar to a word, the most similar first. Case is ignored.
    ///
    /// - Parameters:
    ///   - tolerance: the number of edits that a short word may need; a longer word may need one edit for every three
    ///     characters.
    ///   - findsParts: whether a known word that contains the word counts as most similar. Applies from three
    ///     characters on.
    ///   - limit: the number of words to return.
    package static func words(
        like word: String,
        in known: some Collection<String>,
        tolerance: Int = 1,
        findsParts: Bool = false,
        limit: Int = .max
    ) -> [String] {
        guard word.utf8.count <= longestWord else { return [] }
        let wanted = Array(word.lowercased())
        let most = max(tolerance, wanted.count / 3)
        var found: [(word: String, edits: Int)] = []
        for candidate in known.sorted().prefix(mostWords) {
            let letters = Array(candidate.lowercased())
            if findsParts, wanted.count >= 3, letters.firstRange(of: wanted) != nil {
                found.append((candidate, 0))
            } else if abs(letters.count - wanted.count) <= most {
                let edits = EditDistance.between(wanted, letters)
                if edits <= most { found.append((candidate, edits)) }
            }
        }
        return found.sorted { ($0.edits, $0.word) < ($1.edits, $1.word) }.prefix(limit).map(\.word)
    }

    /// The known word that is most similar to a word; nil without a similar word.
    package static func nearest(to word: String, in known: some Collection<String>) -> String? {
        words(like: word, in: known, limit: 1).first
    }
}

/// The number of edits between two texts.
package enum EditDistance {
    /// Returns the number of insertions, removals, replacements and swaps of neighbors that make `second` of `first`
    /// (optimal string alignment). Takes time in proportion to the product of the lengths.
    package static func between<Element: Equatable>(_ first: [Element], _ second: [Element]) -> Int {
        var (beforeLast, last) = ([Int](), Array(0...second.count))
        for i in first.indices {
            var row = [i + 1]
            row.reserveCapacity(second.count + 1)
            for j in second.indices {
                var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (first[i] == second[j] ? 0 : 1))
                if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
                    best = min(best, beforeLast[j - 1] + 1)
                }
                row.append(best)
            }
            (beforeLast, last) = (last, row)
        }
        return last[second.count]
    }
}
