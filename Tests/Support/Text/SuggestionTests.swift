import InstrumentText
import Testing

@Suite("Suggestions for misspelled words")
struct SuggestionTests {
    static let words = ["stall_time", "startup_time", "rebuffer_ratio", "RebufferRatio", "hls", "dash"]

    @Test(
        "An edit distance counts insertions, removals, replacements and swaps of neighbors",
        arguments: [
            ("", "", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("kitten", "sitting", 3), ("ab", "ba", 1),
            ("stael", "stale", 1), ("abcd", "badc", 2), ("flaw", "lawn", 2), ("é", "e", 1),
        ]
    )
    func distance(first: String, second: String, expected: Int) {
        #expect(EditDistance.between(Array(first), Array(second)) == expected)
        #expect(EditDistance.between(Array(second), Array(first)) == expected)
    }

    @Test("The nearest word differs by at most a third of its characters, or by one edit")
    func nearest() {
        #expect(Suggestion.nearest(to: "stal_tmie", in: Self.words) == "stall_time")
        #expect(Suggestion.nearest(to: "hsl", in: Self.words) == "hls")
        #expect(Suggestion.nearest(to: "HLS", in: Self.words) == "hls")
        #expect(Suggestion.nearest(to: "xyz", in: Self.words) == nil)
        #expect(Suggestion.nearest(to: "", in: Self.words) == nil)
        #expect(Suggestion.nearest(to: "hls", in: [String]()) == nil)
    }

    @Test("Words come in the order of their edits, equal ones in alphabetical order, up to the limit")
    func order() {
        #expect(Suggestion.words(like: "ab", in: ["ad", "ac", "ab", "xyz"]) == ["ab", "ac", "ad"])
        #expect(Suggestion.words(like: "ab", in: ["ad", "ac", "ab"], limit: 2) == ["ab", "ac"])
        #expect(Suggestion.words(like: "ab", in: ["abcd"], tolerance: 2) == ["abcd"])
        #expect(Suggestion.words(like: "ab", in: ["abcd"]).isEmpty)
    }

    @Test("A word that contains the text is found when parts count, from three characters on")
    func parts() {
        #expect(
            Suggestion.words(like: "ratio", in: Self.words, findsParts: true) == ["RebufferRatio", "rebuffer_ratio"]
        )
        #expect(Suggestion.words(like: "ratio", in: Self.words).isEmpty)
        #expect(Suggestion.words(like: "_t", in: Self.words, findsParts: true).isEmpty)
    }

    @Test("A text of more than 64 bytes has no similar word, and a long word costs no comparison")
    func long() {
        let text = String(repeating: "a", count: 65)
        #expect(Suggestion.words(like: text, in: [text]).isEmpty)
        #expect(Suggestion.nearest(to: "aaa", in: [String(repeating: "a", count: 1_000_000)]) == nil)
    }
}
