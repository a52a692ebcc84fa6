extension Dialect {
    /// The eight core metrics, by the rules of the core hub and the core metricalc.
    public static let openavt = Dialect("openavt", title: "OpenAVT", metrics: openAVTMetrics)

    private static let source = "OpenAVT data model; Instrument's CoreMetricalc"

    private static let openAVTMetrics = [
        QualityMetric(
            "StartTime",
            .milliseconds,
            .gauge,
            definition: "At `Start`: time since `MediaRequest`, else since `StreamLoad`, else no value.",
            source: source,
            difference: """
                Ads before the start, and a pause or a seek of the person, count as start time: OpenAVT reads one time attribute and does not \
                know their causes. Ours reports what the player is responsible for.
                """
        ) { $0.core.startTime.map { .integer($0) } },
        QualityMetric("NumPlays", .count, .sum, definition: "`Start` events.", source: source) {
            .integer($0.core.plays)
        },
        QualityMetric(
            "RebufferTime",
            .milliseconds,
            .sum,
            definition: """
                At `BufferFinish` in the playback block, and not in the pause or seek block as they were at `BufferBegin`: time since \
                `BufferBegin`.
                """,
            source: source,
            difference: """
                A stall counts whole when it finishes, also its parts in a pause, a seek or an ad break and before the start, and not at all if \
                the viewer leaves it. Ours counts the time in which the viewer waits.
                """
        ) { .integer($0.core.rebufferTime) },
        QualityMetric(
            "NumRebuffers",
            .count,
            .sum,
            definition: "The number of events that `RebufferTime` adds up.",
            source: source,
            difference: """
                Stalls that finished, also those of the content in an ad break. Ours leaves the latter out, and counts the stall that the \
                viewer leaves.
                """
        ) { .integer($0.core.rebuffers) },
        QualityMetric(
            "PlayTime",
            .milliseconds,
            .sum,
            definition:
                "The sum of `deltaPlayTime`: between two events of the tracker while started and not paused, seeking or buffering.",
            source: source,
            difference: """
                An ad break of a separate tracker counts as play time unless the content's player reports a pause. Ours counts an ad break as `ad`.
                """
        ) { .integer($0.core.playTime) },
        QualityMetric("NumRequests", .count, .sum, definition: "`MediaRequest` events.", source: source) {
            .integer($0.core.requests)
        },
        QualityMetric("NumLoads", .count, .sum, definition: "`StreamLoad` events.", source: source) {
            .integer($0.core.loads)
        },
        QualityMetric("NumEnds", .count, .sum, definition: "`End`, `Stop` and `Next` events.", source: source) {
            .integer($0.core.ends)
        },
    ]
}
