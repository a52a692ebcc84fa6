extension String {
    /// Whether the UTF-8 bytes of this text come before those of `other`: the order in which names are written.
    ///
    /// The operator `<` of `String` is not an order of all texts. It compares texts in normal form C, and where a base letter
    /// with a combining mark meets the composed letter, neither side is less although the texts differ: this is so for
    /// "e\u{301}" and "\u{E9}\n". What a sort with `<` returns then depends on the order of its input, and that of a
    /// `Dictionary` is different in each instance.
    package func precedesInBytes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}

extension Sequence {
    /// The elements in the order of the bytes of the text that `name` returns; equal input gives equal output.
    package func sortedByBytes(of name: (Element) -> String) -> [Element] {
        sorted { name($0).precedesInBytes(name($1)) }
    }
}
