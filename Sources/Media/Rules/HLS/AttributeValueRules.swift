internal import InstrumentManifests
internal import InstrumentText

extension Rule {
    /// A value of a playlist cannot be read.
    package static let playlistAttributeInvalid = Rule(
        "playlist-attribute-invalid",
        .error,
        "A value of the playlist cannot be read",
        explanation: "Each player replaces the value by another guess, or refuses the playlist.",
        source: "RFC 8216bis sections 4.2, 4.4.1.2, 4.4.3 and 4.4.6",
        checks: [
            .text { text, _ in
                text.notices.filter { $0.subject == .miswrittenTag || $0.subject == .misspelledTag }.map { notice in
                    Problem(
                        found: notice.found,
                        expected: notice.subject == .misspelledTag
                            ? "tags of HLS, letter by letter"
                            : "tags in capital letters, with the colon behind the name",
                        advice: "Correct the name of the tag.",
                        line: notice.line
                    )
                }
            },
            .media { playlist, _ in
                AttributeValue.problems(in: playlist.entries) + repeatedTags(in: playlist.entries)
            },
            .multivariant { version, _ in
                AttributeValue.problems(in: version.entries) + repeatedTags(in: version.entries)
                    + repeatedSessionData(in: version)
            },
        ]
    )

    /// The tags of which a playlist must have at most one.
    private static let singleTags: Set<String> = [
        "EXTM3U", "EXT-X-VERSION", "EXT-X-INDEPENDENT-SEGMENTS", "EXT-X-START", "EXT-X-TARGETDURATION",
        "EXT-X-MEDIA-SEQUENCE", "EXT-X-DISCONTINUITY-SEQUENCE", "EXT-X-ENDLIST", "EXT-X-PLAYLIST-TYPE",
        "EXT-X-I-FRAMES-ONLY",
        "EXT-X-PART-INF", "EXT-X-SERVER-CONTROL", "EXT-X-SKIP", "EXT-X-CONTENT-STEERING",
    ]

    /// Session data of one identifier and language of which a player cannot know which ones count.
    private static func repeatedSessionData(in version: MultivariantVersion) -> [Problem] {
        var known: [[String]: PlaylistTag] = [:]
        for tag in version.tags("EXT-X-SESSION-DATA") {
            let list = tag.attributeList
            guard let name = list["DATA-ID"] else { continue }
            guard let first = known.updateValue(tag, forKey: [name, list["LANGUAGE"] ?? ""]) else { continue }
            return [
                Problem(
                    found: "a second EXT-X-SESSION-DATA of `\(name.excerpt())` and the same LANGUAGE",
                    expected: "one tag for each DATA-ID and LANGUAGE, which is in line \(first.line)",
                    advice: "Remove one of the tags.",
                    line: tag.line
                )
            ]
        }
        return []
    }

    private static func repeatedTags(in entries: PlaylistEntries) -> [Problem] {
        var (known, problems): ([String: PlaylistTag], [Problem]) = ([:], [])
        var hasSegment = false
        for tag in entries.tags(where: { $0 == "EXTINF" || singleTags.contains($0) }) {
            if tag.name == "EXTINF" {
                hasSegment = true
                continue
            }
            // A number behind the first segment has another rule.
            guard !(hasSegment && tag.name.hasSuffix("-SEQUENCE")) else { continue }
            guard let first = known[tag.name] else {
                known[tag.name] = tag
                continue
            }
            problems.append(
                Problem(
                    found: "a second \(tag.name)",
                    expected: "one \(tag.name), which is in line \(first.line)",
                    advice: tag.name == "EXTM3U"
                        ? "Remove the tag, or give each playlist a separate address." : "Remove one of the tags.",
                    line: tag.line
                )
            )
            guard problems.count < mostProblems else { break }
        }
        return problems
    }
}

/// The form of a value of a tag or of an attribute (RFC 8216bis section 4.2).
enum AttributeValue {
    case integer, number, signed, resolution, yesOrNo, channels, version, range, protection, dataFormat, bitRate
    case quoted, codecs

    /// The tags whose whole value has a form.
    private static let tags: [String: AttributeValue] = [
        "EXT-X-VERSION": .version, "EXT-X-BITRATE": .integer, "EXT-X-TARGETDURATION": .number,
        "EXT-X-MEDIA-SEQUENCE": .integer, "EXT-X-DISCONTINUITY-SEQUENCE": .integer,
    ]

    private static let attributes: [String: [String: AttributeValue]] = [
        "EXT-X-STREAM-INF": [
            "BANDWIDTH": .bitRate, "AVERAGE-BANDWIDTH": .integer, "RESOLUTION": .resolution, "FRAME-RATE": .number,
            "SCORE": .number,
            "VIDEO-RANGE": .range, "HDCP-LEVEL": .protection, "CODECS": .codecs, "SUPPLEMENTAL-CODECS": .quoted,
            "AUDIO": .quoted,
            "VIDEO": .quoted, "SUBTITLES": .quoted, "PATHWAY-ID": .quoted, "STABLE-VARIANT-ID": .quoted,
        ],
        "EXT-X-I-FRAME-STREAM-INF": [
            "BANDWIDTH": .bitRate, "AVERAGE-BANDWIDTH": .integer, "RESOLUTION": .resolution, "VIDEO-RANGE": .range,
            "HDCP-LEVEL": .protection, "CODECS": .codecs, "URI": .quoted,
        ],
        "EXT-X-KEY": ["URI": .quoted, "KEYFORMAT": .quoted, "KEYFORMATVERSIONS": .quoted],
        "EXT-X-SESSION-KEY": ["URI": .quoted, "KEYFORMAT": .quoted, "KEYFORMATVERSIONS": .quoted],
        "EXT-X-MAP": ["URI": .quoted, "BYTERANGE": .quoted],
        "EXT-X-SESSION-DATA": ["DATA-ID": .quoted, "VALUE": .quoted, "URI": .quoted, "FORMAT": .dataFormat],
        "EXT-X-MEDIA": [
            "GROUP-ID": .quoted, "NAME": .quoted, "URI": .quoted, "LANGUAGE": .quoted, "ASSOC-LANGUAGE": .quoted,
            "CHARACTERISTICS": .quoted, "INSTREAM-ID": .quoted,
            "DEFAULT": .yesOrNo, "AUTOSELECT": .yesOrNo, "FORCED": .yesOrNo, "CHANNELS": .channels,
            "SAMPLE-RATE": .integer, "BIT-DEPTH": .integer,
        ],
        "EXT-X-START": ["TIME-OFFSET": .signed, "PRECISE": .yesOrNo],
        // A part without a duration that can be read has another rule.
        "EXT-X-PART": ["INDEPENDENT": .yesOrNo, "GAP": .yesOrNo],
        "EXT-X-SERVER-CONTROL": ["CAN-BLOCK-RELOAD": .yesOrNo, "CAN-SKIP-DATERANGES": .yesOrNo],
        "EXT-X-RENDITION-REPORT": ["LAST-MSN": .integer, "LAST-PART": .integer],
    ]

    static func problems(in entries: PlaylistEntries) -> [Problem] {
        var problems: [Problem] = []
        let isJudged = { tags[$0] != nil || attributes[$0] != nil || AttributePresence.tags.contains($0) }
        for tag in entries.tags(where: isJudged) {
            if let form = tags[tag.name] {
                // A target duration and a number that cannot be read have another rule.
                guard !form.admits(tag.value) else { continue }
                problems.append(problem("`\(tag.name):\(tag.value.excerpt())`", form, tag.value, tag))
            } else {
                problems += defects(of: tag, attributes[tag.name] ?? [:])
            }
            guard problems.count < Rule.mostProblems else { break }
        }
        return problems
    }

    /// The defects of an attribute list: its form, its values, and the attributes that it lacks.
    private static func defects(of tag: PlaylistTag, _ forms: [String: AttributeValue]) -> [Problem] {
        let list = tag.attributeList
        var problems: [Problem] = []
        func add(_ found: String, _ expected: String, _ advice: String) {
            problems.append(Problem(found: found, expected: expected, advice: advice, line: tag.line))
        }
        if list.isDamaged {
            let expected = "NAME=VALUE with commas between, and quotes in pairs"
            add("attributes of \(tag.name) that cannot be read to their end", expected, "Correct the line.")
        }
        if let name = list.repeatedName {
            add("a second \(name.excerpt()) in \(tag.name)", "each attribute once", "Remove one of them.")
        }
        for defect in AttributePresence.defects(of: tag, list) { add(defect.found, defect.expected, defect.advice) }
        for name in list.values.keys.sorted() where forms[name] == nil && list[name.uppercased()] == nil {
            guard forms[name.uppercased()] != nil else { continue }
            add("`\(name.excerpt())` in \(tag.name)", "the attribute \(name.uppercased())", "Correct the name.")
        }
        for (name, form) in forms.sorted(by: { $0.key < $1.key }) {
            guard let value = list.values[name] else { continue }
            guard value.isQuoted != form.isText || !form.admits(value.text) else { continue }
            let text = value.isQuoted && !form.isText ? "\"\(value.text.excerpt())\"" : value.text.excerpt()
            var problem = problem("`\(name)=\(text)` in \(tag.name)", form, value.text, tag)
            if form == .channels, !value.isQuoted { problem.expected += ", in quotes" }
            problems.append(problem)
        }
        if let average = list["AVERAGE-BANDWIDTH"].flatMap({ DecimalText.integer($0) }),
            let peak = list["BANDWIDTH"].flatMap({ DecimalText.integer($0) }), peak > 0, average > peak
        {
            add("AVERAGE-BANDWIDTH=\(average)", "at most the peak, BANDWIDTH=\(peak)", "Correct the bit rates.")
        }
        return problems
    }

    private static func problem(
        _ found: String,
        _ form: AttributeValue,
        _ value: String,
        _ tag: PlaylistTag
    ) -> Problem {
        let expected = form.isTooLarge(value) ? form.limit : form.words
        return Problem(found: found, expected: expected, advice: "Correct the value.", line: tag.line)
    }

    /// The newest protocol version (section 8).
    private static let newestVersion: Int64 = 13
    /// Numbers with a fraction are below this one: as seconds, it is more than 30 years.
    private static let numberLimit = 1_000_000_000.0

    /// Whether the value is a quoted string.
    private var isText: Bool { self == .quoted || self == .codecs || self == .channels }

    /// Whether a value has the form, and is larger than any that a client reads.
    private func isTooLarge(_ value: String) -> Bool {
        switch self {
        // A number has at most 64 bits (section 4.2).
        case .integer, .bitRate: DecimalText.integer(value) != nil && UInt64(value) == nil
        case .number: DecimalText.double(value).map { $0 >= Self.numberLimit } ?? false
        default: false
        }
    }

    /// The largest value, in words.
    private var limit: String {
        self == .number ? "a number below \(Int64(Self.numberLimit))" : "a whole number of at most 64 bits"
    }

    private var words: String {
        switch self {
        case .integer: "a whole number of 0 or more"
        case .bitRate: "a whole number of bits per second without quotes"
        case .number: "a number of 0 or more"
        case .signed: "a number of seconds"
        case .resolution: "a resolution such as `1920x1080`"
        case .yesOrNo: "YES or NO"
        case .version: "a version from 1 to \(Self.newestVersion)"
        case .range: "SDR, HLG or PQ"
        case .protection: "TYPE-0, TYPE-1 or NONE"
        case .dataFormat: "JSON or RAW"
        case .quoted: "a value in quotes"
        case .codecs: "codec strings in quotes, such as `\"avc1.640028,mp4a.40.2\"`"
        case .channels: "a number of channels above 0, perhaps with parameters, such as `6` or `16/JOC`"
        }
    }

    /// Whether a value of `EXT-X-VERSION` is a version.
    static func isVersion(_ value: String) -> Bool {
        DecimalText.integer(value).map { (1...newestVersion).contains($0) } ?? false
    }

    private func admits(_ value: String) -> Bool {
        if isTooLarge(value) { return false }
        switch self {
        case .integer: return DecimalText.integer(value) != nil
        case .version: return Self.isVersion(value)
        case .range: return ["SDR", "HLG", "PQ"].contains(value)
        case .protection: return ["TYPE-0", "TYPE-1", "NONE"].contains(value)
        case .dataFormat: return value == "JSON" || value == "RAW"
        // A bit rate that is missing or no number has another rule.
        case .quoted, .bitRate: return true
        case .codecs: return value.contains { !$0.isWhitespace && $0 != "," }
        case .number: return DecimalText.double(value).map { $0 >= 0 } ?? false
        case .signed: return DecimalText.double(value) != nil
        case .resolution:
            let parts = value.split(separator: "x", omittingEmptySubsequences: false)
            return parts.count == 2 && parts.allSatisfy { DecimalText.integer($0) != nil }
        case .yesOrNo: return value == "YES" || value == "NO"
        case .channels: return DecimalText.integer(value.split(at: "/").before).map { $0 > 0 } ?? false
        }
    }
}
