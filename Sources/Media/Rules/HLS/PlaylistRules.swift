internal import Instrument
internal import InstrumentManifests

extension Rule {
    /// The playlist cannot be parsed.
    package static let playlistMalformed = Rule(
        "playlist-malformed",
        .error,
        "The playlist cannot be parsed",
        explanation: "A player must refuse a playlist that breaks the syntax, so that nothing plays.",
        source: "RFC 8216bis section 4.1",
        checks: [
            .text { text, _ in
                guard text.format == .hls, let failure = text.failure else { return [] }
                return failure.problems(of: "a playlist", expecting: "an HLS playlist, which begins with #EXTM3U")
            }
        ]
    )

    /// `EXT-X-VERSION` is lower than the tags need.
    package static let versionTooLow = Rule(
        "version-too-low",
        .error,
        "EXT-X-VERSION is too low for the tags in the playlist",
        explanation:
            "An old player that supports the declared version misreads the newer tags instead of refusing them.",
        source: "RFC 8216bis section 8",
        checks: [
            .media { version, _ in
                tooLow(CompatibilityVersion.need(of: version), version.playlist.version, version.tags("EXT-X-VERSION"))
            }
            .explained(by: .version),
            .multivariant { version, _ in
                tooLow(CompatibilityVersion.need(of: version), version.playlist.version, version.tags("EXT-X-VERSION"))
            }
            .explained(by: .version),
        ]
    )

    private static func tooLow(
        _ need: CompatibilityVersion.Need?,
        _ declared: Int64,
        _ tags: [PlaylistTag]
    ) -> [Problem] {
        // A value that is no version has another rule.
        guard let need, need.version > declared, tags.allSatisfy({ AttributeValue.isVersion($0.value) }) else {
            return []
        }
        return [
            Problem(
                found: "EXT-X-VERSION \(declared)",
                expected: "EXT-X-VERSION \(need.version) or higher because of \(need.feature)",
                advice: "Raise EXT-X-VERSION.",
                line: need.line
            )
        ]
    }

    /// The playlist has had no new segment for too long.
    package static let stale = Rule(
        "stale",
        .error,
        "The live playlist is stale",
        explanation: "A player that gets no new segments drains its buffer and stalls.",
        source: "RFC 8216bis section 6.2.1",
        checks: [
            .media { playlist, rendition, _ in
                guard playlist.isLive, let since = rendition.edgeSince else { return [] }
                let age = since.duration(to: playlist.fetched.instant).nanoseconds
                let limit = playlist.playlist.targetDuration.saturatingMultiply(3) / 2
                guard limit > 0, age > limit else { return [] }
                let (shownAge, shownLimit) = age.shownSeconds(besides: limit)
                return [
                    Problem(
                        found: "the same last segment for \(shownAge)",
                        expected: "a new segment within 1.5 target durations, which are \(shownLimit)",
                        advice: "Check the encoder and the packager, then the caches in front of them."
                    )
                ]
            }
            .explained(by: .endList)
        ]
    )

    /// A segment is longer than the target duration.
    package static let targetDurationExceeded = Rule(
        "target-duration-exceeded",
        .error,
        "A segment is longer than EXT-X-TARGETDURATION",
        explanation:
            "Players reload by the target duration and size their buffers by it; a longer segment makes them stall.",
        source: "RFC 8216bis section 4.4.3.1",
        checks: [
            .media { playlist, _ in
                let target = playlist.playlist.targetDuration
                // A target duration with a fraction has another rule.
                let longest = target.roundedToSeconds
                let longer = playlist.segments.filter { $0.segment.duration.roundedToSeconds > longest }
                guard let first = longer.first else { return [] }
                let duration = first.segment.duration
                // Seconds that 64 bits of nanoseconds do not hold, whatever the digits are.
                let isEndless = duration == .max
                let shown = isEndless ? "more than \(duration / 1_000_000_000) s" : duration.shownSeconds
                return [
                    Problem(
                        found: "\(shown) in \(longer.count) of \(playlist.segments.count) segments",
                        expected: "segments of at most \(longest.shownSeconds) after rounding to whole seconds",
                        advice: isEndless
                            ? "Write the duration of the media into EXTINF."
                            : "Raise EXT-X-TARGETDURATION, or cut shorter segments.",
                        line: first.line
                    )
                ]
            }
        ]
    )

    /// The target duration changes at a reload.
    package static let targetDurationChanged = Rule(
        "target-duration-changed",
        .error,
        "EXT-X-TARGETDURATION changes at a reload",
        explanation: "Players compute their reload interval from the target duration, which must never change.",
        source: "RFC 8216bis section 4.4.3.1",
        checks: [
            .media { playlist, rendition, _ in
                guard let old = rendition.replaced?.playlist.targetDuration,
                    old != playlist.playlist.targetDuration
                else { return [] }
                let (found, expected) = playlist.playlist.targetDuration.shownSeconds(besides: old)
                return [
                    Problem(
                        found: found,
                        expected: "the target duration of the playlist before, \(expected)",
                        advice: "Keep one target duration for the whole stream.",
                        line: playlist.tags("EXT-X-TARGETDURATION").first?.line
                    )
                ]
            }
        ]
    )

    /// A live playlist lists less than three target durations after a segment was removed.
    package static let windowTooShort = Rule(
        "window-too-short",
        .error,
        "Segments are removed from a live playlist of less than three target durations",
        explanation:
            "A player that starts three target durations behind the end has nowhere to start, and stalls at every delay.",
        source: "RFC 8216bis section 6.2.2",
        checks: [
            .media { playlist, rendition, _ in
                // Only a playlist from which segments are removed must be that long. The number of the first segment
                // does not say so: streams may begin with any number.
                guard playlist.isLive, let pair = Replacement(playlist, rendition), !pair.isTooFast,
                    playlist.playlist.mediaSequence > pair.old.playlist.mediaSequence, !playlist.segments.isEmpty
                else { return [] }
                let (listed, target) = (playlist.playlist.duration, playlist.playlist.targetDuration)
                let least = target.saturatingMultiply(3)
                guard listed < least else { return [] }
                let (found, expected) = listed.shownSeconds(besides: least)
                return [
                    Problem(
                        found: "\(found) in \(playlist.segments.count) segments",
                        expected: "at least three target durations, which are \(expected)",
                        advice: playlist.windowAdvice
                    )
                ]
            }
            .explained(by: .mediaSequence, .discontinuitySequence)
        ]
    )

    /// A playlist of the type VOD has no `EXT-X-ENDLIST`.
    package static let endlistMissing = Rule(
        "endlist-missing",
        .warning,
        "A playlist of the type VOD has no EXT-X-ENDLIST",
        explanation:
            "Some players take the playlist for a live stream, start near its end, and reload it without end.",
        source: "RFC 8216bis sections 4.4.3.4 and 4.4.3.5",
        checks: [
            .media { playlist, rendition, _ in
                // Where the tag was there before, it has vanished.
                guard let notice = playlist.playlist.notices.first(where: { $0.subject == .missingEndList }),
                    rendition.previous?.hasEndTag != true
                else { return [] }
                return [
                    Problem(
                        found: notice.found,
                        expected: "EXT-X-ENDLIST in a playlist that cannot change",
                        advice: "Add EXT-X-ENDLIST at the end, or remove EXT-X-PLAYLIST-TYPE:VOD.",
                        line: notice.line
                    )
                ]
            }
        ]
    )

    /// `EXT-X-ENDLIST` is gone.
    package static let endlistVanished = Rule(
        "endlist-vanished",
        .error,
        "EXT-X-ENDLIST vanishes at a reload",
        explanation: "Players stop reloading at EXT-X-ENDLIST, so that they miss everything that comes after it.",
        source: "RFC 8216bis section 6.2.1",
        checks: [
            .media { playlist, rendition, _ in
                guard rendition.replaced?.hasEndTag == true, !playlist.hasEndTag else { return [] }
                return [
                    Problem(
                        found: "a playlist without EXT-X-ENDLIST",
                        expected: "EXT-X-ENDLIST as in the playlist before",
                        advice: "Serve a new stream at a new address."
                    )
                ]
            }
            .explained(by: .endList)
        ]
    )
}
