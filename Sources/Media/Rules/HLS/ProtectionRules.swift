internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentText

extension Rule {
    /// `EXT-X-KEY` contradicts itself or the segments.
    package static let keyInconsistent = Rule(
        "key-inconsistent",
        .error,
        "EXT-X-KEY contradicts itself or the segments",
        explanation: "Players cannot decrypt the segments, or decrypt them with the wrong key.",
        source: "RFC 8216bis section 4.4.4.4",
        checks: [
            .media { playlist, _ in playlist.tags("EXT-X-KEY").compactMap { keyProblem($0, isSession: false) } },
            .media { playlist, _ in misplacedCounter(in: playlist) }.explained(by: .map),
            .multivariant { version, _ in
                version.tags("EXT-X-SESSION-KEY").compactMap { keyProblem($0, isSession: true) }
            },
            .failure { failure, _ in
                guard failure.kind == .key else { return [] }
                return [
                    Problem(
                        found: failure.reason,
                        expected: "a key of 16 bytes, not written as text",
                        advice: "Check the address of the key, its access, and what the key server sends."
                    )
                ]
            },
            .segment { facts, _, _ in
                guard facts.isEncrypted, let count = facts.byteCount, count % 16 != 0 else { return [] }
                // What the key does not decrypt has another rule.
                if case .undecipherable = facts.failure { return [] }
                return [
                    problem("a segment of \(count) bytes", "a multiple of 16 bytes, because METHOD is AES-128", nil)
                ]
            },
        ]
    )

    private static let methods: Set<String> = ["NONE", "AES-128", "SAMPLE-AES", "SAMPLE-AES-CTR", "AES-256-GCM"]

    private static func keyProblem(_ tag: PlaylistTag, isSession: Bool) -> Problem? {
        let attributes = tag.attributes
        guard let method = attributes["METHOD"] else { return problem("no METHOD", "a METHOD attribute", tag.line) }
        guard methods.contains(method) else {
            return problem("METHOD=\(method.excerpt())", "one of \(methods.sorted().joined(separator: ", "))", tag.line)
        }
        if method == "NONE" {
            if isSession { return problem("METHOD=NONE", "a method that encrypts in EXT-X-SESSION-KEY", tag.line) }
            let others = attributes.keys.filter { $0 != "METHOD" }.sorted()
            guard let first = others.first else { return nil }
            return problem("\(first.excerpt()) beside METHOD=NONE", "no other attribute beside METHOD=NONE", tag.line)
        }
        if attributes["URI"]?.isEmpty ?? true { return problem("no URI", "a URI with METHOD=\(method)", tag.line) }
        guard let vector = attributes["IV"] else { return nil }
        if method == "SAMPLE-AES-CTR" || method == "AES-256-GCM" {
            return problem("an IV with METHOD=\(method)", "no IV, because the segments have theirs", tag.line)
        }
        if !isVector(vector) {
            return problem("an IV that is no number of 128 bits", "an IV of 0x and 32 hexadecimal digits", tag.line)
        }
        return nil
    }

    /// `SAMPLE-AES-CTR` for segments that are no fragments of MP4, for which it is not defined.
    private static func misplacedCounter(in playlist: MediaPlaylistVersion) -> [Problem] {
        let method = "SAMPLE-AES-CTR"
        let keys = playlist.tags("EXT-X-KEY")
        guard let tag = keys.first(where: { $0.attributes["METHOD"] == method }) else { return [] }
        let isOther = playlist.segments.contains { listed in
            guard case .samples(let name) = listed.segment.encryption?.method, name.hasPrefix(method) else {
                return false
            }
            return listed.segment.initialization == nil && !isNamedFragment(listed.segment.url)
        }
        guard isOther else { return [] }
        let expected = "\(method) for fragments of MP4 alone, or SAMPLE-AES"
        return [problem("METHOD=\(method) for a segment without EXT-X-MAP", expected, tag.line)]
    }

    private static func isVector(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst(2)
        return text.lowercased().hasPrefix("0x") && digits.count == 32 && digits.allSatisfy { isHexadecimal($0) }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }

    private static func problem(_ found: String, _ expected: String, _ line: Int?) -> Problem {
        Problem(
            found: found,
            expected: expected,
            advice: "Correct the encryption settings of the packager.",
            line: line
        )
    }

    /// `EXT-X-MAP` is missing or cannot be used.
    package static let mapInconsistent = Rule(
        "map-inconsistent",
        .error,
        "EXT-X-MAP is missing or cannot be used",
        explanation: "A decoder of fragmented MP4 needs the initialization segment; without it nothing plays.",
        source: "RFC 8216bis section 4.4.4.5",
        checks: [
            .media { playlist, _ in
                if let tag = playlist.tags("EXT-X-MAP").first(where: {
                    $0.attributes["BYTERANGE"]?.contains("@") == false
                }) {
                    return [mapProblem("a BYTERANGE without an offset", "LENGTH@OFFSET in EXT-X-MAP", tag.line)]
                }
                let maps = maps(of: playlist)
                let encrypted = playlist.segments.first { listed in
                    guard listed.segment.initialization?.encryption?.method == .aes128 else { return false }
                    let behind = maps.partitioningIndex { $0.line >= listed.line }
                    return behind > 0 && !maps[behind - 1].hasVector
                }
                guard let encrypted else { return [] }
                return [
                    mapProblem(
                        "an encrypted EXT-X-MAP without an IV",
                        "an IV in the EXT-X-KEY before it",
                        encrypted.line
                    )
                ]
            },
            .media { playlist, _ in
                guard let bare = playlist.segments.first(where: isBareFragment) else { return [] }
                return [mapProblem("a fragment of MP4 without EXT-X-MAP", "EXT-X-MAP before the segment", bare.line)]
            }
            .explained(by: .map),
            .segment { facts, _, history in
                // The name of a segment does not say that it is a fragment.
                guard history.manifest == nil, facts.isBareFragment, !isNamedFragment(facts.url) else { return [] }
                return [
                    Problem(
                        found: "MP4 without EXT-X-MAP in segment \(facts.sequence)",
                        expected: "EXT-X-MAP before the segment",
                        advice:
                            "Add EXT-X-MAP; an initialization segment in front of each fragment does not replace it."
                    )
                ]
            }
            .explained(by: .map),
        ]
    )

    private static func isBareFragment(_ listed: ListedSegment) -> Bool {
        listed.segment.initialization == nil && isNamedFragment(listed.segment.url)
    }

    private static func isNamedFragment(_ url: HTTPURL) -> Bool {
        let path = url.path.lowercased()
        return [".m4s", ".cmfv", ".cmfa"].contains { path.hasSuffix($0) }
    }

    /// The lines of `EXT-X-MAP`, in order, and whether the `EXT-X-KEY` before each has an initialization vector.
    private static func maps(of playlist: MediaPlaylistVersion) -> [(line: Int, hasVector: Bool)] {
        var (maps, hasVector) = ([(line: Int, hasVector: Bool)](), false)
        for tag in playlist.entries.tags(where: { $0 == "EXT-X-KEY" || $0 == "EXT-X-MAP" }) {
            if tag.name == "EXT-X-KEY" { hasVector = tag.attributes["IV"] != nil }
            if tag.name == "EXT-X-MAP" { maps.append((tag.line, hasVector)) }
        }
        return maps
    }

    private static func mapProblem(_ found: String, _ expected: String, _ line: Int) -> Problem {
        Problem(found: found, expected: expected, advice: "Correct the packager's EXT-X-MAP.", line: line)
    }

    /// A segment is marked as missing.
    package static let gapListed = Rule(
        "gap-listed",
        .warning,
        "A segment is marked as missing",
        explanation: "The packager had no media for the segment; viewers see a jump, another rendition, or nothing.",
        source: "RFC 8216bis section 4.4.4.7",
        checks: [
            .media { playlist, _ in
                let gaps = playlist.segments.filter(\.segment.isGap)
                guard let first = gaps.first else { return [] }
                return [
                    Problem(
                        found: "EXT-X-GAP at \(gaps.count) of \(playlist.segments.count) segments",
                        expected: "media for each segment",
                        advice: "Check the encoder's input and the transfer to the packager.",
                        line: first.line
                    )
                ]
            }
        ]
    )
}
