internal import Instrument
internal import InstrumentText

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

extension ManifestText {
    /// Replaces each timeline of one long run by other runs: of the ticks of a segment and the number of segments, the
    /// start, the ticks and the count of each run.
    mutating func splitTimelines(_ runs: (Int, Int) -> [(start: Int, ticks: Int, count: Int)]) {
        let all = lines
        lines = all.indices.flatMap { index -> [String] in
            let line = all[index]
            let parts = line.split(separator: "\"")
            let isOnly = index + 1 < all.count && all[index + 1].contains("</SegmentTimeline")
            guard isOnly, line.contains("<S t=\"0\""), parts.count >= 6, let ticks = Int(parts[3]),
                let repeats = Int(parts[5]), repeats >= 9
            else { return [line] }
            return runs(ticks, repeats + 1).map { "<S t=\"\($0.start)\" d=\"\($0.ticks)\" r=\"\($0.count - 1)\"/>" }
        }
    }

    /// Moves `availabilityStartTime`.
    mutating func shiftStart(by milliseconds: Int64) {
        changeAttribute("availabilityStartTime") { text in
            WallTime(rfc3339: text).map { WallTime(milliseconds: $0.milliseconds &+ milliseconds).rfc3339 }
        }
    }

    /// Lists the parts of segments that are four and five segments before the live edge.
    mutating func keepOldParts() {
        let places = lines.indices.filter { lines[$0].hasPrefix("#EXTINF") }
        for place in places.suffix(5).prefix(2).reversed() where place + 1 < lines.count {
            let name = lines[place + 1].dropLast(".m4s".count)
            let parts = ["0.520000", "0.520000", "0.520000", "0.440000"].enumerated().map { part, duration in
                "#EXT-X-PART:DURATION=\(duration),URI=\"\(name).\(part).m4s\""
            }
            lines.insert(contentsOf: parts, at: place)
        }
    }

    /// Multiplies a decimal attribute.
    mutating func scale(_ name: String, by factor: Double) {
        changeAttribute(name) { value in Double(value).map { "\(($0 * factor * 1_000).rounded() / 1_000)" } }
    }

    /// The line of a segment that no check fetches: neither one of the first nor one of the last.
    var placeInside: Int? { lines.indices.filter { lines[$0].hasPrefix("#EXTINF") }.dropFirst(3).first }

    /// Adds milliseconds to the programme date of each segment, by the segment's number.
    mutating func shiftDates(_ shift: (Int) -> Int64) {
        let tag = "#EXT-X-PROGRAM-DATE-TIME:"
        for index in lines.indices where lines[index].hasPrefix(tag) {
            guard let address = lines[index...].first(where: { !$0.hasPrefix("#") }),
                let name = address.split(separator: "/").last, let number = Int(name.prefix { $0.isNumber }),
                let date = WallTime(rfc3339: String(lines[index].dropFirst(tag.count)))
            else { continue }
            lines[index] = tag + WallTime(milliseconds: date.milliseconds &+ shift(number)).rfc3339
        }
    }
}
