package import InstrumentManifests

/// What a check makes of a notice of a parser or a timeline.
///
/// The list is complete by its `switch`: a new subject of a notice does not compile without a decision.
package enum NoticeJudgement: Hashable, Sendable {
    /// The notice is a finding of a rule that has no other check.
    case finding(of: Rule.ID, expected: String, advice: String)
    /// The rule finds the defect by other checks, which know more than the notice.
    case covered(by: Rule.ID)
    /// The stream keeps its standard; the notice tells what the probe does not do.
    case legal

    /// The rule that reports the defect; nil for a legal stream.
    package var rule: Rule.ID? {
        switch self {
        case .finding(let rule, _, _), .covered(let rule): rule
        case .legal: nil
        }
    }
}

extension ManifestNotice.Subject {
    /// What a check makes of notices about this subject.
    package var judgement: NoticeJudgement {
        switch self {
        case .byteOrderMark:
            .finding(
                of: "playlist-encoding",
                expected: "a playlist that begins with #EXTM3U",
                advice: "Write the playlist without a byte order mark."
            )
        case .invalidUTF8:
            .finding(
                of: "playlist-encoding",
                expected: "a playlist in UTF-8",
                advice: "Write the playlist in UTF-8, and percent-encode addresses."
            )
        case .unknownCodec:
            .finding(
                of: "codecs-unknown",
                expected: "a codec string of RFC 6381 such as `avc1.640028` or `mp4a.40.2`",
                advice: "Copy the codec string from the packager or the initialization segment."
            )
        case .codecWithoutProfile:
            .finding(
                of: "codecs-unknown",
                expected: "a codec string with its parameters, such as `avc1.640028` or `mp4a.40.2`",
                advice: "Copy the codec string from the packager or the initialization segment."
            )
        case .paddedTag: .covered(by: "playlist-loose")
        case .controlCharacter:
            .finding(
                of: "playlist-encoding",
                expected: "text without control characters, except line breaks",
                advice: "Remove the character, and check whether the file was padded or damaged."
            )
        case .miswrittenTag, .misspelledTag: .covered(by: "playlist-attribute-invalid")
        case .referenceRefused, .refusedRepresentation:
            .finding(
                of: "reference-refused",
                expected: "a valid http or https address",
                advice: "Correct the address."
            )
        case .redirectedToHTTP:
            .finding(
                of: "redirect-to-http",
                expected: "https after redirects of an https address",
                advice: "Redirect to an https address."
            )
        case .unreadableDateRange, .contradictoryDateRange: .covered(by: "daterange-contradiction")
        case .mapWithoutVector: .covered(by: "map-inconsistent")
        case .exceededTargetDuration: .covered(by: "target-duration-exceeded")
        case .missingBandwidth: .covered(by: "bandwidth-missing")
        case .misplacedPeriod: .covered(by: "period-boundary")
        case .misplacedEntry: .covered(by: "timeline-overlap")
        case .earlierSegments, .restartedNumbers: .covered(by: "media-sequence-backwards")
        case .missedSegments: .covered(by: "media-sequence-jump")
        case .contradictoryDates: .covered(by: "variant-lags")
        case .remoteElementLimit: .covered(by: "remote-element-missing")
        case .encryptedSamples, .unsupportedEncryption, .unsupportedSessionEncryption, .alternativeVideo,
            .unsupportedClock, .unknownEssentialProperty, .unsupportedRepresentation, .missingSubtitles:
            .legal
        case .addressWithoutDuration:
            .finding(
                of: "extinf-missing",
                expected: "EXTINF before each address of a segment",
                advice: "Write EXTINF before the address, or remove the address."
            )
        case .negativeDuration:
            .finding(
                of: "extinf-negative",
                expected: "an EXTINF duration of 0 or more seconds",
                advice: "Write the duration of the media into EXTINF."
            )
        case .invalidDate:
            .finding(
                of: "program-date-time-invalid",
                expected: "a date of ISO 8601 such as 2026-01-01T00:00:00.000Z",
                advice: "Correct the date."
            )
        case .lateSequenceNumber:
            .finding(
                of: "sequence-number-late",
                expected: "the sequence number before the first segment",
                advice: "Move the tag before the first segment."
            )
        case .unknownPlaylistType:
            .finding(
                of: "playlist-type-unknown",
                expected: "VOD or EVENT in upper case",
                advice: "Correct the type, or remove the tag."
            )
        case .incompleteDateRange:
            .finding(
                of: "daterange-incomplete",
                expected: "ID and START-DATE in each date range",
                advice: "Add the attribute."
            )
        case .rangeWithoutStart:
            .finding(
                of: "byte-range-without-start",
                expected: "LENGTH@OFFSET in the first range of a file",
                advice: "Add the offset."
            )
        case .missingTargetDuration:
            .finding(
                of: "target-duration-missing",
                expected: "EXT-X-TARGETDURATION in each media playlist",
                advice: "Add EXT-X-TARGETDURATION with the longest duration in whole seconds."
            )
        case .fractionalTargetDuration:
            .finding(
                of: "target-duration-fraction",
                expected: "a whole number of seconds",
                advice: "Round the target duration to the next whole second."
            )
        case .missingEndList: .covered(by: "endlist-missing")
        case .incompletePartInformation:
            .finding(
                of: "low-latency-tag-invalid",
                expected: "a PART-TARGET above 0",
                advice: "Add the longest duration of a part."
            )
        case .incompletePart:
            .finding(
                of: "low-latency-tag-invalid",
                expected: "a URI and a DURATION of 0 or more seconds in each EXT-X-PART",
                advice: "Add or correct the attribute."
            )
        case .repeatedHint:
            .finding(
                of: "low-latency-tag-invalid",
                expected: "at most one EXT-X-PRELOAD-HINT of each TYPE",
                advice: "Remove the hint that is not next."
            )
        case .invalidHint:
            .finding(
                of: "low-latency-tag-invalid",
                expected: "a URI, and a byte range of whole numbers above 0",
                advice: "Correct the hint."
            )
        case .steeringWithoutServer:
            .finding(
                of: "steering-without-server",
                expected: "a SERVER-URI in EXT-X-CONTENT-STEERING",
                advice: "Add the address of the steering server."
            )
        case .addressWithoutStream:
            .finding(
                of: "stream-inf-missing",
                expected: "EXT-X-STREAM-INF before each address of a variant",
                advice: "Write EXT-X-STREAM-INF before the address, or remove the address."
            )
        case .streamWithoutAddress:
            .finding(
                of: "stream-inf-missing",
                expected: "the address of a variant behind each EXT-X-STREAM-INF",
                advice: "Write the address in the next line, or remove the tag."
            )
        case .incompleteMedia:
            .finding(
                of: "media-tag-incomplete",
                expected: "TYPE (AUDIO, VIDEO, SUBTITLES or CLOSED-CAPTIONS) and GROUP-ID",
                advice: "Correct the tag."
            )
        case .remoteElement:
            .finding(
                of: "remote-element-missing",
                expected: "an element of the same name at the address of xlink:href",
                advice: "Check the address, and what the server answers to it."
            )
        case .periodWithoutStart:
            .finding(
                of: "period-without-start",
                expected: "a start or the duration of the period before",
                advice: "Add @start, or @duration to the period before."
            )
        case .malformedRepresentation:
            .finding(
                of: "representation-unplayable",
                expected: "segments that a player can address",
                advice: "Correct the representation."
            )
        case .entryWithoutDuration:
            .finding(
                of: "timeline-entry-invalid",
                expected: "a @d above 0 in each `S` element",
                advice: "Correct @d."
            )
        case .missingTrack:
            .finding(
                of: "period-track-missing",
                expected: "the same kinds of tracks in each period",
                advice: "Add the track to the period, or a track of silence or black pictures."
            )
        }
    }
}
