/// The text of a playlist or manifest under edit.
struct ManifestText {
    var lines: [String]
    /// The content type to send instead of the right one.
    var contentType: String?
    /// Whether the document does not exist.
    var isMissing = false

    init(_ text: String) { lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }

    var text: String { lines.joined(separator: "\n") }

    /// Replaces a text wherever it stands.
    mutating func replace(_ old: String, with new: String) {
        for index in lines.indices where lines[index].contains(old) {
            lines[index] = lines[index].split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
        }
    }

    /// Removes the lines that begin with a tag.
    mutating func remove(_ tag: String) { lines.removeAll { $0.hasPrefix(tag) } }

    /// Inserts a line before the first one that begins with a tag.
    mutating func insert(_ line: String, before tag: String) {
        guard let index = lines.firstIndex(where: { $0.hasPrefix(tag) }) else { return }
        lines.insert(line, at: index)
    }

    /// Changes the number of a tag.
    mutating func change(_ tag: String, _ change: (Int) -> Int) {
        for index in lines.indices where lines[index].hasPrefix(tag + ":") {
            guard let value = Int(lines[index].dropFirst(tag.count + 1)) else { continue }
            lines[index] = "\(tag):\(change(value))"
        }
    }

    /// Changes the value of an attribute wherever it stands, as `NAME=…,` of a playlist or `name="…"` of a manifest.
    mutating func changeAttribute(_ name: String, _ change: (String) -> String?) {
        for index in lines.indices {
            let line = lines[index]
            guard let range = Self.value(of: name, in: line) else { continue }
            let isQuoted = line[..<range.lowerBound].last == "\""
            if let value = change(String(line[range])) {
                lines[index].replaceSubrange(range, with: value)
            } else {
                let start = line.index(range.lowerBound, offsetBy: -name.count - (isQuoted ? 2 : 1))
                var end = isQuoted ? line.index(after: range.upperBound) : range.upperBound
                // The separator goes with the attribute.
                if end < line.endIndex, line[end] == "," || line[end] == " " { end = line.index(after: end) }
                lines[index].removeSubrange(start..<end)
            }
        }
    }

    private static func value(of name: String, in line: String) -> Range<String.Index>? {
        var start = line.startIndex
        while let found = line[start...].firstRange(of: name + "=") {
            start = found.upperBound
            // `BANDWIDTH` is also the end of `AVERAGE-BANDWIDTH`.
            if found.lowerBound > line.startIndex {
                let before = line[line.index(before: found.lowerBound)]
                guard [":", ",", " "].contains(before) else { continue }
            }
            let isQuoted = line[start...].first == "\""
            let first = isQuoted ? line.index(after: start) : start
            let end = line[first...].firstIndex { isQuoted ? $0 == "\"" : $0 == "," } ?? line.endIndex
            return first..<end
        }
        return nil
    }
}
