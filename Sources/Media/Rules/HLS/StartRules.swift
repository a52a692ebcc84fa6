internal import Instrument
internal import InstrumentManifests

extension Rule {
    /// A playlist declares a start outside of it, or too close to the live edge.
    package static let startOutside = Rule(
        "start-outside",
        .warning,
        "EXT-X-START points outside the playlist, or too close to its live edge",
        explanation: "Players show the end at once, begin at the other end of the stream, or stall at the live edge.",
        source: "RFC 8216bis section 4.4.2.2",
        checks: [
            .media { playlist, rendition, history in
                // The start of the multivariant playlist counts for all renditions, and wins (section 4.4.2).
                if let offset = history.multivariant?.playlist.startOffset {
                    guard history.presentation?.renditions.first?.id.description == rendition.name else { return [] }
                    return problem(of: offset, in: playlist, "EXT-X-START of the multivariant playlist", line: nil)
                }
                guard let offset = playlist.playlist.startOffset else { return [] }
                return problem(of: offset, in: playlist, "EXT-X-START", line: playlist.tags("EXT-X-START").first?.line)
            }
        ]
    )

    private static func problem(
        of start: StartOffset,
        in playlist: MediaPlaylistVersion,
        _ tag: String,
        line: Int?
    ) -> [Problem] {
        let (offset, duration) = (start.offset, playlist.playlist.duration)
        guard duration > 0, let expected = expected(of: offset, in: playlist) else { return [] }
        return [
            Problem(
                found: "a TIME-OFFSET of \(offset.shownSeconds) in a playlist of \(duration.shownSeconds)",
                expected: expected,
                advice: "Correct \(tag).",
                line: line
            )
        ]
    }

    /// What an offset has to be; nil for one that is right.
    private static func expected(of offset: Int64, in playlist: MediaPlaylistVersion) -> String? {
        let duration = playlist.playlist.duration
        // The beginning of the playlist is inside it, its end is not.
        if offset >= duration || offset < -duration { return "an offset inside the playlist" }
        guard playlist.isLive else { return nil }
        let distance = playlist.playlist.targetDuration.saturatingMultiply(3)
        let rest = offset < 0 ? -offset : duration - offset
        return rest < distance ? "at least \(distance.shownSeconds), three target durations, before the end" : nil
    }
}
