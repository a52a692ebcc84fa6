extension Rule {
    /// A segment cannot be decrypted with its key.
    package static let segmentUndecipherable = Rule(
        "segment-undecipherable",
        .error,
        "A segment cannot be decrypted with its key",
        explanation: "No player shows anything of the segment, and most of them end the playback.",
        source: "RFC 8216bis sections 4.4.4.4 and 5.2",
        checks: [
            .segment { facts, _, _ in
                guard case .undecipherable(let found) = facts.failure else { return [] }
                return [
                    Problem(
                        found: "\(found) in segment \(facts.sequence)",
                        expected: "media that EXT-X-KEY decrypts",
                        advice: "Compare the key and the IV of EXT-X-KEY with those that the packager used."
                    )
                ]
            }
        ]
    )

    /// A response has other bytes than the requested range.
    package static let byteRangeWrong = Rule(
        "byte-range-wrong",
        .error,
        "A response has other bytes than the requested byte range",
        explanation: "Players play other media at the place of the segment, or the same media again and again.",
        source: "RFC 9110 section 15.3.7; RFC 8216bis section 4.4.4.2; ISO/IEC 23009-1 clause 5.3.9.2",
        checks: [
            .failure { failure, _ in failure.kind == .range ? [wrongRange(failure.reason)] : [] },
            .segment { facts, _, _ in
                if case .otherRange(let found) = facts.failure { return [wrongRange(found)] }
                return facts.rangeShortage.map { [wrongRange($0)] } ?? []
            },
        ]
    )

    private static func wrongRange(_ found: String) -> Problem {
        Problem(
            found: found,
            expected: "the bytes of the requested range with status 206, or the whole file where no range is requested",
            advice:
                "Compare the byte range with the size of the file, and check the ranges of the server and of its caches."
        )
    }

    /// A server ignores byte ranges.
    package static let byteRangeIgnored = Rule(
        "byte-range-ignored",
        .warning,
        "The server ignores byte ranges",
        explanation: "Each segment costs the transfer of the whole file, and some players refuse it.",
        source: "RFC 9110 section 14.2; RFC 8216bis section 4.4.4.2; ISO/IEC 23009-1 clause 5.3.9.2",
        checks: [
            .segment { facts, _, _ in
                guard facts.isRangeIgnored else { return [] }
                return [
                    Problem(
                        found: "status 200 with the whole file for the byte range of segment \(facts.sequence)",
                        expected: "status 206 with the bytes of the requested range",
                        advice: "Enable byte ranges on the server and on the caches in front of it."
                    )
                ]
            }
        ]
    )

    /// A server sends a byte range and does not say which.
    package static let contentRangeMissing = Rule(
        "content-range-missing",
        .warning,
        "A byte range is sent without Content-Range",
        explanation: "Players and caches cannot verify that the bytes are those of the segment; some refuse them.",
        source: "RFC 9110 section 15.3.7",
        checks: [
            .segment { facts, _, _ in
                guard facts.lacksContentRange else { return [] }
                return [
                    Problem(
                        found: "status 206 without Content-Range for the byte range of segment \(facts.sequence)",
                        expected: "Content-Range with the first and the last byte of the body",
                        advice: "Send Content-Range with each response of status 206, also from caches."
                    )
                ]
            }
        ]
    )
}
