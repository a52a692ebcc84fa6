extension String {
    /// How many marks that combine with one character any writing needs (Unicode Standard Annex 15, section 13,
    /// "Stream-Safe Text Format").
    package static var mostCombiningMarks: Int { 30 }

    /// Whether no character has more than ``mostCombiningMarks``. Text in which one has is not writing but an attack:
    /// to compare or hash it, its marks are sorted, in time that grows with the square of their number.
    package var isStreamSafe: Bool {
        if utf8.withContiguousStorageIfAvailable({ UnsafeRawBufferPointer($0).isASCII }) == true { return true }
        var marks = 0
        for scalar in unicodeScalars {
            marks = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : marks + 1
            if marks > Self.mostCombiningMarks { return false }
        }
        return true
    }

    /// The text with the marks left out that one character has too many of.
    package var streamSafe: String {
        if isStreamSafe { return self }
        var (marks, result) = (0, String.UnicodeScalarView())
        for scalar in unicodeScalars {
            marks = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : marks + 1
            if marks <= Self.mostCombiningMarks { result.append(scalar) }
        }
        return String(result)
    }
}
