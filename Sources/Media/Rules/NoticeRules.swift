internal import InstrumentManifests

// Each of these rules reports the notices that `NoticeJudgement` gives to it.
extension Rule {
    /// A playlist or MPD is not plain text in UTF-8.
    package static let playlistEncoding = noticed(
        "playlist-encoding",
        .error,
        "A playlist or MPD is not plain text in UTF-8",
        explanation:
            "Clients should refuse a playlist with a byte order mark, control characters or bytes that are not UTF-8.",
        source: "RFC 8216bis section 4.1; W3C XML 1.0 section 2.2"
    )

    /// A codec string names no known codec, or no profile of it.
    package static let codecsUnknown = noticed(
        "codecs-unknown",
        .warning,
        "A codec string names no known codec or no profile",
        explanation:
            "Players ask their decoders for the declared codecs, and skip a variant whose codec they do not know.",
        source: "RFC 8216bis section 4.4.6.2; ISO/IEC 23009-1 clause 5.3.7.2"
    )

    /// An address is not valid, or neither http nor https.
    package static let referenceRefused = noticed(
        "reference-refused",
        .error,
        "An address is not valid, or neither http nor https",
        explanation: "Players leave out what they cannot fetch: a variant, a rendition, a representation or a hint.",
        source: "RFC 8216bis section 4.1; ISO/IEC 23009-1 clause 5.6"
    )

    /// A manifest over https is redirected to http.
    package static let redirectToHTTP = noticed(
        "redirect-to-http",
        .warning,
        "A manifest over https is redirected to http",
        explanation: "Browsers refuse the redirect as mixed content; other players lose the protection of https.",
        source: "W3C Mixed Content section 4.4; RFC 8216bis section 10"
    )

    /// An address has no EXTINF.
    package static let extinfMissing = noticed(
        "extinf-missing",
        .error,
        "An address has no EXTINF",
        explanation: "Players leave the segment out or refuse the playlist.",
        source: "RFC 8216bis section 4.4.4.1"
    )

    /// An EXTINF duration is negative.
    package static let extinfNegative = noticed(
        "extinf-negative",
        .error,
        "An EXTINF duration is negative",
        explanation: "Players compute wrong positions, or refuse the playlist.",
        source: "RFC 8216bis sections 4.2 and 4.4.4.1"
    )

    /// EXT-X-PROGRAM-DATE-TIME is no date.
    package static let programDateTimeInvalid = noticed(
        "program-date-time-invalid",
        .error,
        "EXT-X-PROGRAM-DATE-TIME is no date",
        explanation: "Players ignore the date, or refuse the playlist; seeking by date and advertisements fail.",
        source: "RFC 8216bis section 4.4.4.6"
    )

    /// A sequence number comes after the first segment.
    package static let sequenceNumberLate = noticed(
        "sequence-number-late",
        .error,
        "A sequence number comes after the first segment",
        explanation: "Players number the segments differently, so that live playback jumps or stops at a reload.",
        source: "RFC 8216bis sections 4.4.3.2 and 4.4.3.3"
    )

    /// EXT-X-PLAYLIST-TYPE is neither VOD nor EVENT.
    package static let playlistTypeUnknown = noticed(
        "playlist-type-unknown",
        .warning,
        "EXT-X-PLAYLIST-TYPE is neither VOD nor EVENT",
        explanation: "Players ignore the type, so that they take a recording or an event for an ordinary live stream.",
        source: "RFC 8216bis section 4.4.3.5"
    )

    /// EXT-X-DATERANGE lacks ID or START-DATE.
    package static let dateRangeIncomplete = noticed(
        "daterange-incomplete",
        .error,
        "EXT-X-DATERANGE lacks ID or START-DATE",
        explanation: "Players ignore the range, with the advertisement or the metadata in it.",
        source: "RFC 8216bis section 4.4.5.1"
    )

    /// A byte range says nowhere where it begins.
    package static let byteRangeWithoutStart = noticed(
        "byte-range-without-start",
        .error,
        "A byte range says nowhere where it begins",
        explanation: "Players read the wrong bytes, or refuse the playlist.",
        source: "RFC 8216bis section 4.4.4.2"
    )

    /// EXT-X-TARGETDURATION is missing.
    package static let targetDurationMissing = noticed(
        "target-duration-missing",
        .error,
        "EXT-X-TARGETDURATION is missing",
        explanation:
            "Players compute their reload interval and their buffers from the target duration; many refuse the playlist.",
        source: "RFC 8216bis section 4.4.3.1"
    )

    /// EXT-X-TARGETDURATION is no whole number.
    package static let targetDurationFraction = noticed(
        "target-duration-fraction",
        .warning,
        "EXT-X-TARGETDURATION is no whole number",
        explanation: "Players that read an integer cut the fraction off, or refuse the playlist.",
        source: "RFC 8216bis section 4.4.3.1"
    )

    /// A low-latency tag lacks what it needs.
    package static let lowLatencyTagInvalid = noticed(
        "low-latency-tag-invalid",
        .error,
        "A low-latency tag lacks what it needs",
        explanation: "Players ignore the tag and fall back to whole segments, with the latency of these.",
        source: "RFC 8216bis sections 4.4.3.7, 4.4.4.9 and 4.4.5.3"
    )

    /// EXT-X-CONTENT-STEERING has no SERVER-URI.
    package static let steeringWithoutServer = noticed(
        "steering-without-server",
        .error,
        "EXT-X-CONTENT-STEERING has no SERVER-URI",
        explanation: "Players stay on the first pathway, whatever the steering server wants.",
        source: "RFC 8216bis section 4.4.6.6"
    )

    /// An address has no EXT-X-STREAM-INF, or the tag no address.
    package static let streamInfMissing = noticed(
        "stream-inf-missing",
        .error,
        "EXT-X-STREAM-INF and the address of a variant do not stand together",
        explanation: "Players leave the variant out, or refuse the playlist.",
        source: "RFC 8216bis section 4.4.6.2"
    )

    /// EXT-X-MEDIA lacks TYPE or GROUP-ID.
    package static let mediaTagIncomplete = noticed(
        "media-tag-incomplete",
        .error,
        "EXT-X-MEDIA lacks TYPE or GROUP-ID",
        explanation: "Players leave the rendition out, so that a language or the subtitles are missing.",
        source: "RFC 8216bis section 4.4.6.1"
    )

    /// A remote element of an MPD cannot be used.
    package static let remoteElementMissing = noticed(
        "remote-element-missing",
        .error,
        "A remote element of an MPD cannot be used",
        explanation: "Players omit the period or the adaptation set, or use its default content.",
        source: "ISO/IEC 23009-1 clause 5.5"
    )

    /// A period has no start.
    package static let periodWithoutStart = noticed(
        "period-without-start",
        .error,
        "A period has no start",
        explanation: "Players leave the period out.",
        source: "ISO/IEC 23009-1 clause 5.3.2.1"
    )

    /// A representation has no segments that a player can address.
    package static let representationUnplayable = noticed(
        "representation-unplayable",
        .error,
        "A representation has no segments that a player can address",
        explanation: "Players leave the representation out, or refuse the MPD.",
        source: "ISO/IEC 23009-1 clauses 5.3.9.4.4 and 5.3.9.5"
    )

    /// An S element has no duration.
    package static let timelineEntryInvalid = noticed(
        "timeline-entry-invalid",
        .error,
        "An S element has no duration",
        explanation: "Players leave the segments out, or refuse the timeline.",
        source: "ISO/IEC 23009-1 clause 5.3.9.6"
    )

    /// A period lacks pictures or sound that other periods have.
    package static let periodTrackMissing = noticed(
        "period-track-missing",
        .warning,
        "A period lacks pictures or sound that other periods have",
        explanation: "Many players stall or end the playback at a period without a track that they are playing.",
        source: "ISO/IEC 23009-1 clause 5.3.2.4"
    )

    /// A rule that reports notices.
    private static func noticed(
        _ id: ID,
        _ severity: Severity,
        _ title: String,
        explanation: String,
        source: String
    ) -> Rule {
        Rule(
            id,
            severity,
            title,
            explanation: explanation,
            source: source,
            checks: [.text { text, _ in text.notices.compactMap { $0.problem(of: id) } }]
        )
    }

    /// The rules that report notices.
    static let notices = [
        playlistEncoding, codecsUnknown, referenceRefused, redirectToHTTP, extinfMissing, extinfNegative,
        programDateTimeInvalid, sequenceNumberLate, playlistTypeUnknown, dateRangeIncomplete, byteRangeWithoutStart,
        targetDurationMissing, targetDurationFraction, lowLatencyTagInvalid, steeringWithoutServer,
        streamInfMissing, mediaTagIncomplete, remoteElementMissing, periodWithoutStart, representationUnplayable,
        timelineEntryInvalid,
        periodTrackMissing,
    ]
}

extension ManifestNotice {
    /// The problem of a rule; nil for a notice that another rule reports.
    fileprivate func problem(of rule: Rule.ID) -> Problem? {
        guard case .finding(rule, let expected, let advice) = subject.judgement else { return nil }
        return Problem(
            found: count > 1 ? "\(found), \(count) times" : found,
            expected: expected,
            advice: advice,
            line: line
        )
    }
}
