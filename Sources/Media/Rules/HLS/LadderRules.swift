internal import Instrument
internal import InstrumentManifests
internal import InstrumentText

extension Rule {
    /// A variant has no bandwidth.
    package static let bandwidthMissing = Rule(
        "bandwidth-missing",
        .error,
        "A variant has no BANDWIDTH",
        explanation:
            "Players choose variants by their bandwidth; one without a bandwidth is chosen at random or never.",
        source: "RFC 8216bis section 4.4.6.2",
        checks: [
            .multivariant { version, _ in
                let tags = version.tags("EXT-X-STREAM-INF") + version.tags("EXT-X-I-FRAME-STREAM-INF")
                return tags.filter { tag in
                    // A name in small letters has another rule.
                    (DecimalText.integer(tag.attributes["BANDWIDTH"] ?? "") ?? 0) == 0
                        && !tag.attributes.keys.contains { $0 != "BANDWIDTH" && $0.uppercased() == "BANDWIDTH" }
                }.map { tag in
                    Problem(
                        found: tag.attributes["BANDWIDTH"].map { "BANDWIDTH=\($0.excerpt()) in \(tag.name)" }
                            ?? "\(tag.name) without a valid BANDWIDTH",
                        expected: "the peak bit rate in bits per second",
                        advice: tag.attributes["BANDWIDTH"] == nil
                            ? "Add BANDWIDTH."
                            : "Correct BANDWIDTH: write the peak bit rate as a whole number above 0.",
                        line: tag.line
                    )
                }
            }
        ]
    )

    /// Some variants have a score and others none.
    package static let scoreMissing = Rule(
        "score-missing",
        .warning,
        "Some variants have a SCORE and others none",
        explanation: "Players prefer variants by their scores; each places a variant without a score elsewhere.",
        source: "RFC 8216bis section 4.4.6.2",
        checks: [
            .multivariant { version, _ in
                let tags = version.tags("EXT-X-STREAM-INF")
                guard let scored = tags.first(where: { $0.attributes["SCORE"] != nil }) else { return [] }
                // A name in small letters has another rule.
                let others = tags.filter { tag in !tag.attributes.keys.contains { $0.uppercased() == "SCORE" } }
                guard let first = others.first else { return [] }
                return [
                    Problem(
                        found: "\(others.count) of \(tags.count) variants without SCORE",
                        expected: "SCORE in all variants, as in line \(scored.line), or in none",
                        advice: "Add SCORE to the other variants, or remove it from all of them.",
                        line: first.line
                    )
                ]
            }
        ]
    )

    /// A group has two renditions of one name, or two defaults.
    package static let renditionGroupDuplicate = Rule(
        "rendition-group-duplicate",
        .error,
        "A rendition group has duplicates",
        explanation: "Viewers cannot choose between renditions of one name, and players disagree about the default.",
        source: "RFC 8216bis section 4.4.6.1.1",
        checks: [
            .multivariant { version, _ in
                MediaGroup.all(in: version).flatMap { group -> [Problem] in
                    var (names, defaults): (Set<String>, Int) = ([], 0)
                    return group.members.compactMap { member in
                        let name = member.attributes["NAME"] ?? ""
                        if member.attributes["DEFAULT"] == "YES" { defaults += 1 }
                        if !names.insert(name).inserted {
                            return group.problem(
                                "a second member named `\(name.excerpt())`",
                                "one member of each NAME",
                                member.line
                            )
                        }
                        guard defaults > 1, member.attributes["DEFAULT"] == "YES" else { return nil }
                        return group.problem("a second member with DEFAULT=YES", "at most one default", member.line)
                    }
                }
            }
        ]
    )

    /// A variant names a group that does not exist.
    package static let renditionGroupMissing = Rule(
        "rendition-group-missing",
        .error,
        "A variant names a rendition group that does not exist",
        explanation: "The variant plays without sound or subtitles, or not at all.",
        source: "RFC 8216bis section 4.4.6.2",
        checks: [
            .multivariant { version, _ in
                let known = Set(MediaGroup.all(in: version).map { "\($0.kind) \($0.name)" })
                return version.tags("EXT-X-STREAM-INF").flatMap { tag -> [Problem] in
                    let attributes = tag.attributes
                    return ["AUDIO", "VIDEO", "SUBTITLES", "CLOSED-CAPTIONS"].compactMap { kind in
                        guard let name = attributes[kind], !(kind == "CLOSED-CAPTIONS" && name == "NONE"),
                            !known.contains("\(kind) \(name)")
                        else { return nil }
                        return Problem(
                            found: "\(kind)=\"\(name.excerpt())\" without such a group",
                            expected: "an EXT-X-MEDIA of TYPE=\(kind) with that GROUP-ID",
                            advice: "Add the group, or remove the attribute.",
                            line: tag.line
                        )
                    }
                }
            }
            .explained(by: .media)
        ]
    )
}

/// The renditions of one `TYPE` and `GROUP-ID`.
struct MediaGroup {
    var kind: String
    var name: String
    var members: [PlaylistMember]

    struct PlaylistMember {
        var attributes: [String: String]
        var line: Int
    }

    static func all(in version: MultivariantVersion) -> [MediaGroup] {
        var (groups, places): ([MediaGroup], [String: Int]) = ([], [:])
        for tag in version.tags("EXT-X-MEDIA") {
            let attributes = tag.attributes
            guard let kind = attributes["TYPE"], let name = attributes["GROUP-ID"] else { continue }
            let member = PlaylistMember(attributes: attributes, line: tag.line)
            let key = "\(kind) \(name)"
            if let place = places[key] {
                groups[place].members.append(member)
            } else {
                places[key] = groups.count
                groups.append(MediaGroup(kind: kind, name: name, members: [member]))
            }
        }
        return groups
    }

    func problem(_ found: String, _ expected: String, _ line: Int) -> Problem {
        Problem(
            found: found,
            expected: expected,
            advice: "Correct the group `\(name.excerpt())` of TYPE=\(kind.excerpt()).",
            line: line
        )
    }
}
