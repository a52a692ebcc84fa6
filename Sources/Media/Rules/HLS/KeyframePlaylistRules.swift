package import InstrumentHTTP
package import InstrumentManifests

extension Rule {
    /// A playlist of keyframes is not declared as one.
    package static let keyframePlaylistWrong = Rule(
        "keyframe-playlist-wrong",
        .error,
        "A playlist of keyframes is not declared as its tags require",
        explanation: "Players show no pictures during fast forward and rewind, or load whole segments for them.",
        source: "RFC 8216bis sections 4.4.3.6 and 4.4.6.3",
        checks: [
            .multivariant { version, _ in
                Array(
                    version.tags("EXT-X-I-FRAME-STREAM-INF").flatMap { tag in
                        ["BANDWIDTH", "URI"].filter { tag.attributes[$0]?.isEmpty ?? true }.map { name in
                            Problem(
                                found: "EXT-X-I-FRAME-STREAM-INF without \(name)",
                                expected: "BANDWIDTH and URI in each EXT-X-I-FRAME-STREAM-INF",
                                advice: "Add \(name).",
                                line: tag.line
                            )
                        }
                    }.prefix(mostProblems)
                )
            },
            .media { playlist, rendition, history in
                guard !playlist.playlist.isIFramesOnly, !playlist.playlist.segments.isEmpty,
                    history.multivariant?.keyframePlaylists.contains(where: { $0.name == rendition.name }) == true
                else { return [] }
                return [
                    Problem(
                        found: "no EXT-X-I-FRAMES-ONLY in a playlist of EXT-X-I-FRAME-STREAM-INF",
                        expected: "a playlist with EXT-X-I-FRAMES-ONLY whose ranges are keyframes",
                        advice: "Name the playlist of keyframes, or add EXT-X-I-FRAMES-ONLY to it.",
                        line: playlist.tags("EXTINF").first?.line
                    )
                ]
            },
        ]
    )
}

extension MultivariantVersion {
    /// The largest number of playlists of keyframes that are checked.
    private static let mostKeyframeRenditions = 100

    /// The names and addresses of the playlists of keyframes (`EXT-X-I-FRAME-STREAM-INF`), each address once, with the
    /// sizes of their pictures as declared.
    package var keyframePlaylists: [(name: String, url: HTTPURL, size: Resolution?)] {
        var known: Set<HTTPURL> = []
        return tags("EXT-X-I-FRAME-STREAM-INF").prefix(Self.mostKeyframeRenditions).compactMap { tag in
            guard let text = tag.attributes["URI"], let address = try? url.resolving(text),
                known.insert(address).inserted
            else { return nil }
            return ("keyframes/\(known.count - 1)", address, Resolution(text: tag.attributes["RESOLUTION"] ?? ""))
        }
    }
}
