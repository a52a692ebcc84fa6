internal import InstrumentManifests

extension Rule {
    /// The limits of this program prevent that a playlist or manifest is read.
    package static let limitExceeded = Rule(
        "limit-exceeded",
        .error,
        "A playlist or manifest exceeds a limit of this program",
        explanation: "The stream was not checked. Players have limits as well, which nothing declares.",
        source: "The limits of this program, not RFC 8216bis or ISO/IEC 23009-1",
        checks: [
            .text { text, _ in
                guard let failure = text.failure, failure.code == .limitExceeded else { return [] }
                return [
                    Problem(
                        found: "a \(text.format == .hls ? "playlist" : "manifest") beyond a limit: \(failure.message)",
                        expected: "a size that this program reads",
                        advice: "Shorten the live window, or divide the presentation.",
                        line: failure.line
                    )
                ]
            }
        ]
    )
}

extension TextObservation.Failure {
    /// The problems of a text that breaks its format; none where only a limit is exceeded.
    func problems(of document: String, expecting expected: String) -> [Problem] {
        switch code {
        case .limitExceeded, .cancelled: []
        case .notAManifest:
            [
                Problem(
                    found: content == .markup ? "other XML: \(message)" : "\(content)",
                    expected: expected,
                    advice: content.remedy,
                    line: line
                )
            ]
        case .unsupported, .referenceRefused:
            [
                Problem(
                    found: "\(document) that cannot be used: \(message)",
                    expected: "\(document) that every player can use",
                    advice: "Correct the packager's output.",
                    line: line
                )
            ]
        default:
            [
                // A fault without a line is one of the whole, which is well written.
                line == nil
                    ? Problem(
                        found: "\(document) that cannot be played: \(message)",
                        expected: "\(document) with media that players can play",
                        advice: "Correct the packager's output."
                    )
                    : Problem(
                        found: "a fault of the syntax: \(message)",
                        expected: "\(document) that keeps the syntax",
                        advice: "Correct the line, or the packager that writes it.",
                        line: line
                    )
            ]
        }
    }
}

extension ManifestContent {
    /// What to do about a body that is no manifest, as a sentence.
    fileprivate var remedy: String {
        switch self {
        case .compressed: "Send Content-Encoding with compressed bodies, or the plain text."
        case .empty: "Check that the packager has written the file, and what the server sends for the address."
        case .media: "Give the address of the playlist or the MPD instead of that of the media."
        case .mpd: "Give the MPD an address that ends in .mpd, and the playlist this one."
        case .page, .json, .text: "Check the address, and whether the server requires a login."
        case .addressList: "Give the address of one stream of the list."
        case .playlist: "Give the playlist an address that ends in .m3u8, and the MPD this one."
        case .misplacedPlaylist, .markup, .binary: "Check the address, and what the packager wrote."
        }
    }
}
