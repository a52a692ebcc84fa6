internal import InstrumentManifests
internal import InstrumentText

extension Rule {
    /// A value of a playlist cannot be read.
    package static let playlistAttributeInvalid = Rule(
        "playlist-attribute-invalid",
        .error,
        "A value of the playlist cannot be read",
        explanation: "Each player replaces the value by another guess, or refuses the playlist.",
        source: "RFC 8216bis section 4.2",
        checks: [
            .media { playlist, _ in AttributeValue.problems(in: playlist.entries) },
            .multivariant { version, _ in AttributeValue.problems(in: version.entries) },
        ]
    )
}

/// The form of a value of a tag or of an attribute (RFC 8216bis section 4.2).
private enum AttributeValue {
    case integer, number, signed, resolution, yesOrNo, channels

    /// The tags whose whole value has a form.
    private static let tags: [String: AttributeValue] = [
        "EXT-X-VERSION": .integer, "EXT-X-BITRATE": .integer,
    ]

    private static let attributes: [String: [String: AttributeValue]] = [
        "EXT-X-STREAM-INF": [
            "AVERAGE-BANDWIDTH": .integer, "RESOLUTION": .resolution, "FRAME-RATE": .number, "SCORE": .number,
        ],
        "EXT-X-I-FRAME-STREAM-INF": ["AVERAGE-BANDWIDTH": .integer, "RESOLUTION": .resolution],
        "EXT-X-MEDIA": [
            "DEFAULT": .yesOrNo, "AUTOSELECT": .yesOrNo, "FORCED": .yesOrNo, "CHANNELS": .channels,
            "SAMPLE-RATE": .integer, "BIT-DEPTH": .integer,
        ],
        "EXT-X-START": ["TIME-OFFSET": .signed, "PRECISE": .yesOrNo],
        "EXT-X-PART": ["DURATION": .number, "INDEPENDENT": .yesOrNo, "GAP": .yesOrNo],
        "EXT-X-SERVER-CONTROL": ["CAN-BLOCK-RELOAD": .yesOrNo, "CAN-SKIP-DATERANGES": .yesOrNo],
        "EXT-X-RENDITION-REPORT": ["LAST-MSN": .integer, "LAST-PART": .integer],
    ]

    static func problems(in entries: [PlaylistEntry]) -> [Problem] {
        var problems: [Problem] = []
        for case .tag(let tag) in entries {
            if let form = tags[tag.name], !form.admits(tag.value) {
                problems.append(problem("`\(tag.name):\(tag.value.excerpt())`", form, tag))
            } else if let forms = attributes[tag.name] {
                let values = tag.attributes
                for (name, form) in forms.sorted(by: { $0.key < $1.key }) {
                    guard let value = values[name], !form.admits(value) else { continue }
                    problems.append(problem("`\(name)=\(value.excerpt())` in \(tag.name)", form, tag))
                }
            }
            guard problems.count < Rule.mostProblems else { break }
        }
        return problems
    }

    private static func problem(_ found: String, _ form: AttributeValue, _ tag: PlaylistTag) -> Problem {
        Problem(found: found, expected: form.words, advice: "Correct the value.", line: tag.line)
    }

    private var words: String {
        switch self {
        case .integer: "a whole number of 0 or more"
        case .number: "a number of 0 or more"
        case .signed: "a number of seconds"
        case .resolution: "a resolution such as `1920x1080`"
        case .yesOrNo: "YES or NO"
        case .channels: "a number of channels above 0, perhaps with parameters, such as `6` or `16/JOC`"
        }
    }

    private func admits(_ value: String) -> Bool {
        switch self {
        case .integer: return DecimalText.integer(value) != nil
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
