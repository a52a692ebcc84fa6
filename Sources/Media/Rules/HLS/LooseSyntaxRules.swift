internal import Instrument
internal import InstrumentManifests
internal import InstrumentText

extension Rule {
    /// A playlist breaks the syntax where most players accept it.
    package static let playlistLoose = Rule(
        "playlist-loose",
        .warning,
        "A playlist breaks the syntax where most players accept it",
        explanation: "Players that read by the letter refuse the playlist, or read another value.",
        source: "RFC 8216bis sections 4.1, 4.2, 4.4.4.1, 4.4.4.6 and 4.4.6.1",
        checks: [
            .text { text, _ in
                text.notices.filter { $0.subject == .paddedTag }.map { notice in
                    Problem(
                        found: notice.found,
                        expected: "tags without white space before the name and behind the colon",
                        advice: "Remove the white space.",
                        line: notice.line
                    )
                }
            },
            .media { playlist, _ in LooseSyntax.problems(in: playlist.entries) },
            .multivariant { version, _ in LooseSyntax.problems(in: version.entries) },
        ]
    )
}

/// The forms of values that most players read, and the standard does not have.
private enum LooseSyntax {
    /// One problem for each form, at its first place.
    static func problems(in entries: PlaylistEntries) -> [Problem] {
        var found: [String: Problem] = [:]
        for tag in entries.tags(where: { judgedTags.contains($0) }) {
            guard let (form, problem) = defect(of: tag), found[form] == nil else { continue }
            found[form] = problem
        }
        return found.values.sorted { ($0.line ?? 0) < ($1.line ?? 0) }
    }

    private static func defect(of tag: PlaylistTag) -> (form: String, problem: Problem)? {
        switch tag.name {
        case "EXTINF": return duration(tag)
        case "EXT-X-PROGRAM-DATE-TIME": return date(tag)
        default:
            let list = tag.attributeList
            if list.hasSpaces {
                let problem = Problem(
                    found: "white space around a comma or an equals sign in \(tag.name)",
                    expected: "attributes that follow a comma at once",
                    advice: "Remove the white space.",
                    line: tag.line
                )
                return ("spaces", problem)
            }
            guard let language = list["LANGUAGE"], !isLanguage(language) else { return nil }
            let problem = Problem(
                found: "`LANGUAGE=\"\(language.excerpt())\"`",
                expected: "a tag of RFC 5646 such as `en` or `pt-BR`",
                advice: "Correct the language.",
                line: tag.line
            )
            return ("language", problem)
        }
    }

    private static func duration(_ tag: PlaylistTag) -> (form: String, problem: Problem)? {
        if let text = DecimalText.durationWithComma(tag.value) {
            let problem = Problem(
                found: "`EXTINF:\(tag.value.excerpt())`, with a decimal comma",
                expected: "a decimal point, as in `\(text),`",
                advice: "Write the duration with a decimal point: players read the digits behind the comma as a title.",
                line: tag.line
            )
            return ("decimal comma", problem)
        }
        for byte in tag.value.utf8 {
            if byte == UInt8(ascii: ",") { return nil }
            // A negative duration has another rule.
            guard byte.isDigit || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") else { break }
        }
        let (number, hasComma) = (tag.value.prefix { $0 != "," }, tag.value.utf8.contains(UInt8(ascii: ",")))
        // A duration of centuries has another rule.
        if DecimalText.nanoseconds(number) == .max { return nil }
        let problem = Problem(
            found: "`EXTINF:\(tag.value.excerpt())`",
            expected: hasComma ? "digits and a point, followed by a comma" : "a comma behind the duration",
            advice: hasComma ? "Write the duration as a decimal number." : "Add the comma.",
            line: tag.line
        )
        return (hasComma ? "duration" : "comma", problem)
    }

    private static func date(_ tag: PlaylistTag) -> (form: String, problem: Problem)? {
        let time = tag.value.utf8.dropFirst(11)
        let hasZone = time.contains { $0 | 0x20 == UInt8(ascii: "z") || "+-".utf8.contains($0) }
        let hasSpace = tag.value.utf8.dropFirst(10).first == 0x20
        let hasDay = isEarlyDay(tag.value) || CalendarText.hasRealDay(tag.value)
        // A text that is no date has another rule. A live window may have a date for each of many segments.
        guard !hasZone || hasSpace || !hasDay, CalendarText.wallTime(tag.value) != nil else { return nil }
        let (form, expected) =
            !hasDay
            ? ("day", "a day that its month has")
            : hasSpace ? ("date", "`T` between date and time") : ("zone", "a date with its time zone, such as `Z`")
        let problem = Problem(
            found: "`\(tag.value.excerpt())`",
            expected: expected,
            advice: "Correct EXT-X-PROGRAM-DATE-TIME.",
            line: tag.line
        )
        return (form, problem)
    }

    /// Whether a date has one of the days that every month has, as far as a glance shows.
    private static func isEarlyDay(_ text: String) -> Bool {
        let day = text.utf8.dropFirst(8).prefix(2)
        return day.lexicographicallyPrecedes("29".utf8)
    }

    private static func isLanguage(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.allSatisfy { (1...8).contains($0.count) && $0.allSatisfy { $0.isLetter || $0.isDigit } }
    }

    private static let judgedTags: Set<String> = [
        "EXTINF", "EXT-X-PROGRAM-DATE-TIME", "EXT-X-STREAM-INF", "EXT-X-MEDIA", "EXT-X-I-FRAME-STREAM-INF",
        "EXT-X-SESSION-DATA", "EXT-X-SESSION-KEY",
        "EXT-X-CONTENT-STEERING", "EXT-X-KEY", "EXT-X-MAP", "EXT-X-DATERANGE", "EXT-X-START", "EXT-X-PART",
        "EXT-X-PART-INF", "EXT-X-SERVER-CONTROL", "EXT-X-PRELOAD-HINT", "EXT-X-RENDITION-REPORT", "EXT-X-SKIP",
        "EXT-X-DEFINE",
    ]
}
