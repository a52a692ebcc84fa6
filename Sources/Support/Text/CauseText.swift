/// The cause of a failure in words that equal failures share: without the numbers, identifiers and addresses that make
/// each text unique.
///
/// `the live playlist has not changed for 16312 ms (limit 9000 ms)` and the same with `15950 ms` become
/// `the live playlist has not changed for … ms (limit … ms)`. The status of an HTTP response stays, because it is the
/// cause: `the server answered with status 404`. So do names of formats and protocols that have digits, such as MP4.
package enum CauseText {
    /// Stands for what was left out.
    private static let gap = "…"

    /// The text with `…` in place of each number, identifier, address, host and file name. Takes time in proportion
    /// to the text; a text that this function returned stays the same.
    package static func general(_ text: String) -> String {
        var words: [String] = []
        var previous = ""
        for word in text.split(whereSeparator: \.isWhitespace) {
            let (before, core, after) = parts(of: word)
            let isLeftOut = core == gap || isParticular(core, after: previous)
            previous = isLeftOut ? gap : core.lowercased()
            guard isLeftOut else {
                words.append(String(word))
                continue
            }
            // A list of numbers has as many gaps as another list.
            if let last = words.last, before.isEmpty, isGap(last) {
                words[words.count - 1] = gap + after
            } else {
                words.append(before + gap + after)
            }
        }
        return words.joined(separator: " ")
    }

    /// Whether a word is a gap, perhaps with a comma behind it.
    private static func isGap(_ word: String) -> Bool { word == gap || word == gap + "," }

    /// A word without the punctuation around it.
    private static func parts(of word: Substring) -> (before: String, core: String, after: String) {
        let start = word.firstIndex { !opening.contains($0) } ?? word.endIndex
        let rest = word[start...]
        let end = rest.lastIndex { !closing.contains($0) }.map { rest.index(after: $0) } ?? rest.startIndex
        return (String(word[..<start]), String(rest[..<end]), String(rest[end...]))
    }

    private static let opening: Set<Character> = ["\"", "'", "`", "(", "[", "{", "<", "“", "‘", "«"]
    private static let closing: Set<Character> = [
        "\"", "'", "`", ")", "]", "}", ">", "”", "’", "»", ",", ".", ";", ":", "!", "?",
    ]

    private static func isParticular(_ word: String, after previous: String) -> Bool {
        if word.isEmpty { return false }
        if isStatus(word, after: previous) || known.contains(word.lowercased()) { return false }
        if word.contains(where: \.isNumber) { return true }
        if word.contains("://") || word.contains("@") || word.contains("=") || word.contains("\\") { return true }
        if word.hasPrefix("/"), word.count > 1 { return true }
        return isDotted(word) || word.count >= longestWord
    }

    /// No word of a message is as long, but identifiers are.
    private static let longestWord = 40

    /// `404` behind `status`, `HTTP` or `answered`, and classes of status such as `2xx`.
    private static func isStatus(_ word: String, after previous: String) -> Bool {
        let bytes = Array(word.utf8)
        guard bytes.count == 3, (0x31...0x35).contains(bytes[0]) else { return false }
        if bytes[1...].allSatisfy({ $0 | 0x20 == UInt8(ascii: "x") }) { return true }
        guard bytes[1...].allSatisfy({ (0x30...0x39).contains($0) }) else { return false }
        return previous.hasPrefix("http") || ["status", "answered", "code"].contains(previous)
    }

    /// The name of a host or a file: parts with dots between them, of which one has two letters or more.
    private static func isDotted(_ word: String) -> Bool {
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 1, parts.contains(where: { $0.count > 1 }) else { return false }
        return parts.allSatisfy { part in
            !part.isEmpty && part.allSatisfy { $0.isLetter || $0 == "-" || $0 == "_" || $0 == ":" || $0 == "/" }
        }
    }

    /// Words with digits that name a format or a protocol, and not one thing of many.
    private static let known: Set<String> = [
        "ac-3", "ac-4", "ac3", "aes-128", "aes-256", "av1", "base64", "cea-608", "cea-708", "cta-5004", "dvb-t2",
        "e-ac-3",
        "eac3", "ec-3", "h.264", "h.265", "h264", "h265", "http/1.0", "http/1.1", "http/2", "http/3", "id3", "ipv4",
        "ipv6", "m3u8", "mp2t", "mp3", "mp4", "mpeg-1", "mpeg-2", "mpeg-4", "mpeg2-ts", "oauth2", "scte-35", "scte35",
        "sha-1", "sha-256", "sha1", "sha256", "socks5", "utf-16", "utf-8", "utf8", "vp8", "vp9", "x.509",
    ]
}
