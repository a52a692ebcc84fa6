extension Rule {
    /// No browser plays a segment.
    package static let browsersRefuse = Rule(
        "browsers-refuse",
        .error,
        "Browsers refuse the media",
        explanation: "The first segment ends the playback in every browser; players outside of browsers may play it.",
        source: "W3C ISO BMFF Byte Stream Format sections 3 and 4",
        checks: [.segment { facts, _, _ in browserProblems(facts, areWhole: true) }]
    )

    /// Players in browsers leave out a track, or some browsers refuse the media.
    package static let browsersDropTrack = Rule(
        "browsers-drop-track",
        .warning,
        "Some browsers refuse a track, or players in them leave the track out",
        explanation: "Viewers miss the picture or the sound, or the playback ends in browsers that refuse the track.",
        source: "W3C ISO BMFF Byte Stream Format section 3; W3C MPEG-2 TS Byte Stream Format section 3",
        checks: [.segment { facts, _, _ in browserProblems(facts, areWhole: false) }]
    )

    private static func browserProblems(_ facts: SegmentFacts, areWhole: Bool) -> [Problem] {
        guard facts.failure == nil, let refusal = facts.refusal, refusal.isWhole == areWhole else { return [] }
        return [
            Problem(
                found: "in segment \(facts.sequence) that \(refusal.found)",
                expected: refusal.expected,
                advice: refusal.remedy.prefix(1).uppercased() + refusal.remedy.dropFirst() + "."
            )
        ]
    }
}
