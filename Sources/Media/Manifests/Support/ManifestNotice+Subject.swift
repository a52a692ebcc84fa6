extension ManifestNotice {
    /// The defects and unsupported features that parsers and timelines notice: one list, from which the warnings of a
    /// playback and the findings of a check derive.
    package enum Subject: String, Hashable, Sendable, CaseIterable {
        // Playlists of either kind.
        case byteOrderMark, invalidUTF8, controlCharacter, paddedTag, miswrittenTag, misspelledTag, unknownCodec
        case codecWithoutProfile, referenceRefused, redirectedToHTTP
        // Media playlists.
        case addressWithoutDuration, negativeDuration, invalidDate, lateSequenceNumber, unknownPlaylistType
        case incompleteDateRange, unreadableDateRange, contradictoryDateRange, rangeWithoutStart, mapWithoutVector
        case missingTargetDuration, fractionalTargetDuration, exceededTargetDuration, missingEndList
        case encryptedSamples, unsupportedEncryption
        // Low latency.
        case incompletePartInformation, incompletePart, repeatedHint, invalidHint
        // Multivariant playlists.
        case unsupportedSessionEncryption, steeringWithoutServer, addressWithoutStream, streamWithoutAddress
        case missingBandwidth
        case incompleteMedia, alternativeVideo
        // MPDs.
        case remoteElement, remoteElementLimit, periodWithoutStart, misplacedPeriod, unsupportedClock,
            unknownEssentialProperty
        case malformedRepresentation, unsupportedRepresentation, refusedRepresentation
        case entryWithoutDuration, misplacedEntry, missingTrack, missingSubtitles
        // Reloads.
        case earlierSegments, missedSegments, restartedNumbers, contradictoryDates
    }
}

extension ManifestNotice.Subject {
    /// The kind of notices about this subject.
    var code: ManifestNotice.Code {
        switch self {
        case .encryptedSamples, .unsupportedEncryption, .unsupportedSessionEncryption: .unsupportedEncryption
        case .alternativeVideo, .remoteElement, .unsupportedClock, .unknownEssentialProperty,
            .unsupportedRepresentation:
            .unsupportedFeature
        case .referenceRefused, .refusedRepresentation: .referenceRefused
        case .redirectedToHTTP: .downgraded
        case .remoteElementLimit: .limitReached
        default: .oddity
        }
    }

    /// The subject's words: a noun, and what follows from the defect.
    private var words: (noun: String, consequence: String) {
        switch self {
        case .byteOrderMark: ("a byte order mark", " is skipped")
        case .invalidUTF8: ("text that is not UTF-8", " is read with replacement characters")
        case .controlCharacter: ("a control character", " is read as written")
        case .paddedTag: ("a tag with white space around its name or before its value", " is read without the space")
        case .miswrittenTag: ("a tag with small letters, or with white space before its colon,", " is ignored")
        case .misspelledTag: ("a tag whose name is nearly that of another one", " is ignored")
        case .unknownCodec: ("a codec string that names no known codec", " is kept as written")
        case .codecWithoutProfile: ("a codec string without profile and level", " is kept as written")
        case .referenceRefused: ("a reference that is not followed", " is left out")
        case .redirectedToHTTP: ("a manifest requested over https", " was redirected to http")
        case .addressWithoutDuration: ("an address without EXTINF", " is left out")
        case .negativeDuration: ("a segment with a negative duration", " counts as 0 s")
        case .invalidDate: ("an EXT-X-PROGRAM-DATE-TIME that is no date of ISO 8601", " is ignored")
        case .lateSequenceNumber: ("a sequence number after the first segment", " is ignored")
        case .unknownPlaylistType: ("an EXT-X-PLAYLIST-TYPE that is neither VOD nor EVENT", " is ignored")
        case .incompleteDateRange: ("an EXT-X-DATERANGE without ID or START-DATE", " is ignored")
        case .unreadableDateRange: ("an EXT-X-DATERANGE whose START-DATE is no date of ISO 8601", " is ignored")
        case .contradictoryDateRange: ("a date range whose tags contradict each other", " is invalid")
        case .rangeWithoutStart:
            ("a byte range without offset that follows no range of the same file", " is read from 0")
        case .mapWithoutVector: ("an encrypted EXT-X-MAP without an IV", " is decrypted with an IV of 0")
        case .missingTargetDuration:
            ("a playlist without EXT-X-TARGETDURATION", "; its longest segment replaces the target duration")
        case .fractionalTargetDuration:
            ("an EXT-X-TARGETDURATION that is no whole number of seconds", " is used as written")
        case .exceededTargetDuration: ("a segment that is longer than EXT-X-TARGETDURATION allows", " is played")
        case .missingEndList: ("a playlist of the type VOD without EXT-X-ENDLIST", " is read as complete")
        case .encryptedSamples: ("encrypted samples", "; the probe plays their times without decrypting them")
        case .unsupportedEncryption: ("an encryption of segments that the probe does not support", " ends the playback")
        case .incompletePartInformation: ("an EXT-X-PART-INF without a PART-TARGET above 0", " is ignored")
        case .incompletePart: ("an EXT-X-PART without URI or a valid DURATION", " is ignored")
        case .repeatedHint: ("a second EXT-X-PRELOAD-HINT of one type", " is ignored")
        case .invalidHint: ("an EXT-X-PRELOAD-HINT without URI or with an invalid range", " is ignored")
        case .unsupportedSessionEncryption:
            ("an announced encryption that the probe does not remove", " may end the playback")
        case .steeringWithoutServer: ("an EXT-X-CONTENT-STEERING without SERVER-URI", " is left out")
        case .addressWithoutStream: ("an address without EXT-X-STREAM-INF", " is left out")
        case .streamWithoutAddress: ("an EXT-X-STREAM-INF without an address", " is left out")
        case .missingBandwidth: ("a variant without BANDWIDTH", " is read with another bit rate or 0")
        case .incompleteMedia: ("an EXT-X-MEDIA without a valid TYPE or a GROUP-ID", " is left out")
        case .alternativeVideo: ("alternative video renditions", "; the probe ignores them")
        case .remoteElement:
            ("a remote element (xlink) that cannot be used", " is left out, or the content of its place is used")
        case .remoteElementLimit: ("more remote elements (xlink) than an MPD may have", "; the others are left out")
        case .periodWithoutStart: ("a period whose start is unknown", " is left out")
        case .misplacedPeriod: ("a period that begins before the one in front of it", " is left out")
        case .unsupportedClock:
            ("a UTCTiming with a scheme that the probe does not support", "; the local clock replaces it")
        case .unknownEssentialProperty: ("an element with an unknown EssentialProperty", " is left out")
        case .malformedRepresentation, .unsupportedRepresentation, .refusedRepresentation:
            ("a representation that cannot be played", " is left out")
        case .entryWithoutDuration: ("an `S` element without a duration above 0", " is ignored")
        case .misplacedEntry: ("an `S` element that begins before the one in front of it", " is ignored")
        case .missingTrack, .missingSubtitles: ("a period without a track that other periods have", " has a gap there")
        case .earlierSegments: ("a reload with segments before the known ones", "; these segments are left out")
        case .missedSegments: ("a live playlist that moved past all known segments", " continues after a gap")
        case .restartedNumbers:
            ("a live playlist that restarted with other media sequence numbers", " continues after a discontinuity")
        case .contradictoryDates: ("programme dates of renditions that contradict each other", " are ignored")
        }
    }

    /// Whether notices with different details are different defects; otherwise the first one counts the others.
    var isOnePerDetail: Bool {
        switch self {
        case .unknownCodec, .codecWithoutProfile, .referenceRefused, .encryptedSamples, .unsupportedEncryption,
            .missingTrack, .malformedRepresentation, .unsupportedRepresentation, .refusedRepresentation,
            .unknownEssentialProperty, .remoteElement:
            true
        default: false
        }
    }

    /// The defect as a noun.
    var noun: String { words.noun }
    /// The consequence of the defect, which follows the noun in a message.
    var consequence: String { words.consequence }
}
