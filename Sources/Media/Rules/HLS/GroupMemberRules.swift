internal import InstrumentManifests
internal import InstrumentText

extension Rule {
    /// Groups of one type have different members.
    package static let renditionGroupMembersDiffer = Rule(
        "rendition-group-members-differ",
        .error,
        "Rendition groups of one type have different members",
        explanation: "The viewer's language disappears when the player switches to a variant with another group.",
        source: "RFC 8216bis section 4.4.6.1.1",
        checks: [
            .multivariant { version, _ in
                Dictionary(grouping: MediaGroup.all(in: version), by: \.kind).values.flatMap { groups in
                    missing(in: groups) + different(in: groups)
                }.sorted { ($0.line ?? 0) < ($1.line ?? 0) }
            }
            .explained(by: .media),
            .multivariant { version, _ in
                let tags = version.tags("EXT-X-STREAM-INF")
                let values = tags.map { $0.attributeList.values["CLOSED-CAPTIONS"] }
                let hasNone = values.contains { $0?.text == "NONE" && $0?.isQuoted == false }
                guard hasNone, let place = values.firstIndex(where: { $0?.text != "NONE" }) else { return [] }
                return [
                    Problem(
                        found: values[place].map { "CLOSED-CAPTIONS=\"\($0.text.excerpt())\"" }
                            ?? "a variant without CLOSED-CAPTIONS",
                        expected: "CLOSED-CAPTIONS=NONE as in other variants, or a group in all of them",
                        advice: "Write CLOSED-CAPTIONS=NONE into all variants or into none.",
                        line: tags[place].line
                    )
                ]
            },
        ]
    )

    /// The groups that lack a member of another group.
    private static func missing(in groups: [MediaGroup]) -> [Problem] {
        let names = groups.map { Set($0.members.map(\.name)) }
        let all = names.reduce(Set()) { $0.union($1) }
        return zip(groups, names).compactMap { group, names in
            guard let first = all.subtracting(names).min(), let line = group.members.first?.line else { return nil }
            return group.problem("no member named `\(first.excerpt())`", "the members of the other groups", line)
        }
    }

    /// The members whose attributes are not those of the member of the same name in an earlier group.
    private static func different(in groups: [MediaGroup]) -> [Problem] {
        var known: [String: MediaGroup.PlaylistMember] = [:]
        var problems: [Problem] = []
        for group in groups {
            // Two members of one name in a group are another fault.
            defer { known.merge(group.members.map { ($0.name, $0) }) { first, _ in first } }
            for member in group.members {
                guard let first = known[member.name], let attribute = member.difference(from: first) else { continue }
                problems.append(
                    group.problem(
                        "another \(attribute.excerpt()) for `\(member.name.excerpt())`",
                        "the \(attribute.excerpt()) of line \(first.line), where the member is in another group",
                        member.line
                    )
                )
            }
        }
        return problems
    }
}

extension MediaGroup.PlaylistMember {
    /// The attributes that may differ between the members of one name.
    private static let encoding: Set<String> = [
        "GROUP-ID", "URI", "CHANNELS", "BIT-DEPTH", "STABLE-RENDITION-ID", "INSTREAM-ID", "SAMPLE-RATE",
    ]
    /// The values that count where an attribute is left out.
    private static let implied = ["DEFAULT": "NO", "AUTOSELECT": "NO", "FORCED": "NO"]

    var name: String { attributes["NAME"] ?? "" }

    /// An attribute that has another value in the corresponding member of another group; nil if all are alike.
    fileprivate func difference(from other: Self) -> String? {
        Set(attributes.keys).union(other.attributes.keys).subtracting(Self.encoding).sorted().first { name in
            attributes[name] ?? Self.implied[name] != other.attributes[name] ?? Self.implied[name]
        }
    }
}
