import Instrument
import InstrumentQuality
import Testing

@Suite("Golden sessions in every dialect")
struct GoldenMetricTests {
    let check = sessions(Golden.check)[0]
    let eventful = sessions(Golden.eventful)[0]

    @Test("A session of 2 s join, 60 s play and 3 s stall has the check values of the rebuffering ratio")
    func checkValues() {
        #expect(sessions(Golden.check).count == 1)
        // 3 / 60, 3 / (60 + 2 + 3), 3 / (60 + 3), 3 / (60 + 3)
        #expect(Dialect.newRelic.value("rebufferingRatio", of: check) == .ratio(3000, 60_000))
        #expect(Dialect.exoplayer.value("rebufferTimeRatio", of: check) == .ratio(3000, 65_000))
        #expect(Dialect.instrument.value("RebufferRatio", of: check) == .ratio(3000, 63_000))
        #expect(Dialect.mux.value("rebuffer_percentage", of: check) == .ratio(3000, 63_000))
        let shown = [
            Dialect.newRelic.value("rebufferingRatio", of: check),
            Dialect.exoplayer.value("rebufferTimeRatio", of: check),
        ]
        #expect(shown.map { ($0?.double ?? 0) * 100 }.map { ($0 * 100).rounded() / 100 } == [5.0, 4.62])
        let ours = Dialect.instrument.value("RebufferRatio", of: check)?.double ?? 0
        #expect((ours * 10_000).rounded() / 100 == 4.76)
    }

    @Test("The states of the eventful session are those of its table")
    func states() {
        let expected: [(SessionState, Int)] = [
            (.joining, 2000), (.playing, 30_000), (.rebuffering, 1000), (.pausedBuffering, 2000), (.paused, 5000),
            (.playing, 10_000), (.seeking, 1000), (.playing, 4000), (.rebuffering, 2000), (.playing, 9000),
            (.rebuffering, 4000),
        ]
        #expect(eventful.intervals.map(\.state) == expected.map(\.0))
        #expect(eventful.intervals.map(\.milliseconds) == expected.map(\.1))
        #expect(eventful.state == .stopped)
        #expect(eventful.length == 70_000)
    }

    @Test("Instrument: the eventful session has the values computed by hand")
    func instrument() {
        expect(
            .instrument,
            of: eventful,
            [
                "StartTime": .integer(2000),
                // 32–33 s, before the pause, 55–57 s, and 66–70 s, which the viewer left; the seek's does not count.
                "RebufferTime": .integer(7000), "NumRebuffers": .integer(3), "ExitDuringRebuffer": .integer(1),
                "RebufferRatio": .ratio(7000, 60_000),  // 7000 / (53,000 + 7000)
                "RebufferFrequency": .ratio(180_000, 53_000),  // 3 · 60,000 / 53,000
                "TimeBetweenRebuffers": .integer(17_666),  // 53,000 / 3
                "SeekTime": .integer(1000), "NumSeeks": .integer(1),
                "PlayTime": .integer(53_000),  // 30 + 10 + 4 + 9 s
                "WatchTime": .integer(61_000),  // 53 + 7 + 1 s
                "AverageBitrate": .integer(2_396_226),  // (16 s · 1 Mbit/s + 37 s · 3 Mbit/s) / 53 s
                "BitrateSwitchesUp": .integer(1), "BitrateSwitchesDown": .integer(1),
                "TimeInQuality": .labelled(["640x360": 16_000, "1280x720": 37_000]),
                "StartFailure": .integer(0), "ExitBeforeStart": .integer(0), "PlaybackFailure": .integer(0),
            ]
        )
    }

    @Test("OpenAVT: the eventful session has the values computed by hand")
    func openavt() {
        expect(
            .openavt,
            of: eventful,
            [
                "StartTime": .integer(2000), "NumPlays": .integer(1),
                "RebufferTime": .integer(5000), "NumRebuffers": .integer(2), "PlayTime": .integer(53_000),
                "NumRequests": .integer(1), "NumLoads": .integer(1), "NumEnds": .integer(1),
            ]
        )
    }

    @Test("Mux: the eventful session has the values computed by hand")
    func mux() {
        // Three stalls reach the state: at 32, 55 and 66 s; 1 + 2 + 4 s. Watch time 53 + 7 + 1 s.
        // 640x360 in 1280x720 for 16 of 53 s is an enlargement by 1.
        let smoothness = 0.5 * (100 / (1 + 2.25).squareRoot() + 100 * 0.317_416_3)  // e^(−10 · 7 / 61) = 0.3174163…
        let quality = 100 * 0.874_433_3  // e^(−0.33 · (0.15 · 1 + 0.85 · 16 / 53)) = e^(−0.1341792) = 0.874433…
        expect(
            .mux,
            of: eventful,
            [
                "video_startup_time": .integer(2000), "watch_time": .integer(61_000), "playing_time": .integer(53_000),
                "rebuffer_count": .integer(3), "rebuffer_duration": .integer(7000),
                "rebuffer_percentage": .ratio(7000, 61_000), "rebuffer_frequency": .ratio(180_000, 61_000),
                "seek_latency": .integer(1000), "exits_before_video_start": .integer(0),
                "playback_failure": .integer(0),
                "max_upscale_percentage": .real(1),
                "video_startup_score": .real(80),  // 100 · 8 / (8 + 2)
            ],
            ignoring: ["smoothness_score", "video_quality_score", "upscale_percentage"]
        )
        #expect(abs((Dialect.mux.value("upscale_percentage", of: eventful)?.double ?? 0) - 16.0 / 53) < 1e-12)
        #expect(abs((Dialect.mux.value("smoothness_score", of: eventful)?.double ?? 0) - smoothness) < 0.001)
        #expect(abs((Dialect.mux.value("video_quality_score", of: eventful)?.double ?? 0) - quality) < 0.001)
    }

    @Test("ExoPlayer: the eventful session has the values computed by hand")
    func exoplayer() {
        expect(
            .exoplayer,
            of: eventful,
            [
                "joinTimeMs": .integer(2000), "totalPlayTimeMs": .integer(53_000),
                "totalRebufferTimeMs": .integer(7000),
                "totalSeekTimeMs": .integer(1000), "totalPausedTimeMs": .integer(7000),
                "totalWaitTimeMs": .integer(10_000),  // 2 + 7 + 1 s
                "totalPlayAndWaitTimeMs": .integer(63_000),
                "maxRebufferTimeMs": .integer(4000),  // 32–35 s (with the pause), 55–57 s, 66–70 s
                "totalRebufferCount": .integer(3), "totalPauseCount": .integer(1), "totalSeekCount": .integer(1),
                "abandonedBeforeReadyCount": .integer(0), "endedCount": .integer(0),
                "fatalErrorPlaybackCount": .integer(0),
                "nonFatalErrorCount": .integer(0), "rebufferTimeRatio": .ratio(7000, 63_000),
                "rebufferRate": .ratio(3000, 53_000),  // 1000 · 3 / 53,000
                "meanTimeBetweenRebuffers": .ratio(53_000, 3), "waitTimeRatio": .ratio(10_000, 63_000),
                "meanVideoFormatBitrate": .integer(2_396_226),
            ]
        )
    }

    @Test("New Relic: the eventful session has the values computed by hand")
    func newRelic() {
        expect(
            .newRelic,
            of: eventful,
            [
                "startupTime": .integer(2000), "totalPlaytime": .integer(53_000),
                "totalRebufferingTime": .integer(7000),
                "rebufferingRatio": .ratio(7000, 53_000), "averageBitrate": .integer(2_396_226),
                "peakBitrate": .integer(3_000_000), "hadStartupError": .integer(0), "hadPlaybackError": .integer(0),
                "hadStartupFailure": .integer(0), "hadPlaybackFailure": .integer(0),
            ]
        )
    }

    @Test("CTA-2066: the eventful session has the values computed by hand")
    func cta() {
        expect(
            .cta2066,
            of: eventful,
            [
                "initialStartupTime": .integer(2000), "playbackStallCount": .integer(3),
                "playbackStallDuration": .integer(7000),
            ]
        )
    }

    @Test("3GPP TS 26.247: the eventful session has the values computed by hand")
    func tgpp() {
        let wall = 1_767_225_600_000
        func part(_ start: Int, _ duration: Int, _ reason: AttributeValue) -> AttributeValue {
            ["start": .int(wall + start), "duration": .int(duration), "stopreason": reason]
        }
        expect(
            .tgpp26247,
            of: eventful,
            [
                "InitialPlayoutDelay": .integer(1000),  // From the load at 1 s.
                "PlayList": .record([
                    part(2000, 30_000, "rebuffering"), part(40_000, 10_000, "user"), part(51_000, 4000, "rebuffering"),
                    part(57_000, 9000, "rebuffering"),
                ]),
                "RepSwitchEvents": .record([
                    ["t": .int(wall + 12_000), "to": "1280x720"], ["t": .int(wall + 60_000), "to": "640x360"],
                ]),
                "DeviceInformation": .record([
                    "videoWidth": 640, "videoHeight": 360, "screenWidth": 1280, "screenHeight": 720,
                ]),
            ]
        )
    }

    @Test("Mux's startup score follows the formula", arguments: [(400, 95.0), (2000, 80), (8000, 50), (20_000, 29)])
    func startupScore(milliseconds: Int, expected: Double) {
        let session = sessions([(0, .mediaRequest, [:]), (milliseconds, .start, [:]), (1000, .stop, [:])])[0]
        #expect(abs((Dialect.mux.value("video_startup_score", of: session)?.double ?? 0) - expected) < 1)
    }

    @Test("Mux's smoothness score of 5 s in 5 min is 87 by the formula, not 85 as in the public text")
    func smoothnessScore() {
        // n = 1: 100 / √1.25 = 89.4427; r = 5 / 300: 100 · e^(−1/6) = 84.6482; the mean is 87.0454.
        let session = sessions([
            (0, .mediaRequest, [:]), (0, .start, [:]), (100_000, .bufferBegin, [:]), (5000, .bufferFinish, [:]),
            (195_000, .end, [:]),
        ])[0]
        let score = Dialect.mux.value("smoothness_score", of: session)?.double ?? 0
        #expect(abs(score - 87.0454) < 0.0001)
    }

    @Test("Mux's video quality score of an enlargement by half is 85")
    func videoQualityScore() {
        // 100 · e^(−0.33 · 0.5) = 84.79
        let session = sessions([
            (0, .mediaRequest, [:]), (0, .start, Attributes.size(640, 360, in: 960, 540)), (10_000, .end, [:]),
        ])[0]
        let score = Dialect.mux.value("video_quality_score", of: session)?.double ?? 0
        #expect(abs(score - 84.7893) < 0.0001)
    }

    @Test("Every metric has a definition and a source, every difference a counterpart, and names are unique")
    func descriptions() {
        let ours = Set(Dialect.instrument.metrics.map(\.name))
        for dialect in Dialect.all {
            #expect(Set(dialect.metrics.map(\.name)).count == dialect.metrics.count)
            for metric in dialect.metrics {
                #expect(!metric.definition.isEmpty && !metric.source.isEmpty, "\(dialect) \(metric)")
                if metric.difference != nil {
                    #expect(ours.contains(metric.counterpart ?? metric.name), "\(dialect) \(metric)")
                }
                if let counterpart = metric.counterpart { #expect(ours.contains(counterpart), "\(dialect) \(metric)") }
            }
        }
    }

    @Test("A dialect with an added metric has it in place of the one with the same name")
    func adding() {
        let half = QualityMetric("PlayTime", .milliseconds, .sum, definition: "Half.", source: "a test") { session in
            .integer(session.times[.playing] / 2)
        }
        let dialect = Dialect.openavt.adding([half])
        #expect(dialect.metrics.count == Dialect.openavt.metrics.count)
        #expect(dialect.value("PlayTime", of: check) == .integer(30_000))
    }
}

/// Requires that a dialect has exactly these values.
func expect(
    _ dialect: Dialect,
    of session: QualitySession,
    _ expected: [String: QualityValue],
    ignoring ignored: Set<String> = [],
    sourceLocation: SourceLocation = #_sourceLocation
) {
    var found: [String: QualityValue] = [:]
    for reading in dialect.readings(of: session) where !ignored.contains(reading.metric.name) {
        found[reading.metric.name] = reading.value
    }
    #expect(Set(found.keys) == Set(expected.keys), sourceLocation: sourceLocation)
    for (name, value) in expected {
        #expect(found[name] == value, "\(dialect) \(name)", sourceLocation: sourceLocation)
    }
}

extension QualityValue {
    static func ratio(_ numerator: Int, _ denominator: Int) -> QualityValue {
        .ratio(Ratio(numerator, over: denominator) ?? .zero)
    }
}

extension Attributes {
    static func size(_ width: Int, _ height: Int, in displayWidth: Int, _ displayHeight: Int) -> Attributes {
        [
            "resolutionWidth": .int(width), "resolutionHeight": .int(height), "displayWidth": .int(displayWidth),
            "displayHeight": .int(displayHeight),
        ]
    }
}
