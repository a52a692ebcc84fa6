extension StringProtocol {
    /// The longest beginning of at most `count` bytes of UTF-8 that does not end inside of a scalar; nil if the text is
    /// not longer than that.
    package func shortened(toBytes count: Int) -> String? {
        if utf8.count <= count { return nil }
        var bytes = Array(utf8.prefix(Swift.max(0, count) + 1))
        var end = Swift.max(0, count)
        // A byte of the form 10xxxxxx continues a scalar.
        while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        bytes.removeSubrange(end...)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text for a message: its beginning and `…` if it has more than `count` bytes of UTF-8, which include the `…`.
    ///
    /// Bounded by bytes, because one character can have any number of them: combining marks have no limit.
    package func excerpt(toBytes count: Int = 80) -> String {
        if utf8.count <= count { return String(self) }
        return (shortened(toBytes: count - "…".utf8.count) ?? "") + "…"
    }
}
