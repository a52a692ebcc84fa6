import Instrument
import Testing

@testable import InstrumentAVPlayer

@Suite("Attributes of AVPlayer")
struct AttributeTests {
    private func status(_ steps: [Step]) -> PlayerStatus {
        let stage = ModelStage(Step.begin() + steps)
        return stage.model.status(at: stage.now)
    }

    @Test("The privacy manifest of Instrument covers the fields of AVPlayer")
    func privacyManifest() {
        let covered = PrivacyManifest(.vocabulary)
        #expect(PrivacyManifest(.vocabulary.merging(.avPlayer)).propertyList == covered.propertyList)
    }

    @Test(
        "Times that are not finite, negative or out of range are absent",
        arguments: [
            Double.nan, .infinity, -.infinity, -1, 1e300,
        ]
    )
    func times(seconds: Double) {
        #expect(status([.see(.duration(first, seconds))]).duration == nil)
        var stage = ModelStage([.see(.item(ItemFacts(id: first))), .see(.time(seconds))])
        let position = stage.model.status(at: stage.now).position
        // A live window may begin before zero.
        #expect(position == (seconds == -1 ? .zero : nil))
        stage.play([.see(.timeJumped(first, to: seconds)), .see(.rate(seconds)), .see(.volume(seconds)), .run(1)])
        #expect(stage.signals.allSatisfy { $0.status?.attributes[.position] != nil || $0.status?.position == nil })
    }

    @Test("The position advances between two readings of the clock, for at most a second, and never beyond the end")
    func position() {
        var stage = ModelStage(Step.begin(duration: 1.5))
        #expect(stage.model.status(at: stage.now).position == .seconds(1))
        stage.now = stage.now.advanced(by: .milliseconds(250))
        #expect(stage.model.status(at: stage.now).position == .milliseconds(1250))
        stage.now = stage.now.advanced(by: .seconds(5))
        #expect(stage.model.status(at: stage.now).position == .milliseconds(1500))
        stage.play(Step.pause)
        #expect(stage.signals.last?.status?.position == .milliseconds(1500))
    }

    @Test("A seek begins at the old position and finishes at the new one")
    func seekPositions() {
        let stage = ModelStage(Step.begin() + [.see(.timeJumped(first, to: 40)), .wait(1), .see(.time(40)), .run(1)])
        let seeks = stage.signals.filter { $0.action == .seekBegin || $0.action == .seekFinish }
        #expect(seeks.map { $0.status?.position } == [.seconds(1), .milliseconds(40_250)])
    }

    @Test(
        "The volume is a percentage between 0 and 100",
        arguments: [
            (0.0, 0), (0.5, 50), (1.0, 100), (1.7, 100), (-0.5, 0), (0.004, 0), (0.005, 1),
        ]
    )
    func volume(_ volume: Double, _ percent: Int) {
        #expect(status([.see(.volume(volume))]).volume == percent)
    }

    @Test("A change of the sound is reported while something is played, and only if it can be heard")
    func sound() {
        let before: [Step] = [.see(.volume(0.5)), .see(.muted(false))]
        let stage = ModelStage(
            before + Step.begin() + [.see(.volume(0.501)), .see(.volume(0.8)), .see(.muted(true)), .see(.muted(true))]
        )
        #expect(stage.actions.suffix(2) == ["VolumeChange", "VolumeChange"])
        #expect(stage.actions.count == 6)
        #expect(stage.signals.last?.status?.isMuted == true)
    }

    @Test("Language, subtitles, source and title are those of the item, and go with it")
    func media() {
        var stage = ModelStage(
            Step.begin() + [
                .see(.item(ItemFacts(id: first, source: "https://h.example/a.m3u8", title: "a.m3u8"))),
                .see(.mediaSelection(first, language: "de", subtitles: "en")),
            ]
        )
        var status = stage.model.status(at: stage.now)
        #expect(
            [status.language, status.subtitles, status.source, status.title] == [
                "de", "en", "https://h.example/a.m3u8", "a.m3u8",
            ]
        )
        stage.play(.see(.item(ItemFacts(id: second))))
        status = stage.model.status(at: stage.now)
        #expect([status.language, status.subtitles, status.source, status.title] == [nil, nil, nil, nil])
        #expect(status.duration == nil)
    }

    @Test("Unknown bit rates of the access log are absent, and each known one has a separate name")
    func bitrates() {
        var stage = ModelStage(Step.begin() + [.see(.accessLog(first, [AccessLogEntry()]))])
        #expect(stage.model.status(at: stage.now).bitrate == nil)
        let entry = AccessLogEntry(
            indicatedBitrate: 4e6,
            indicatedAverageBitrate: 3e6,
            observedBitrate: 9e6,
            droppedFrameCount: 3
        )
        stage.play([.see(.accessLog(first, [entry]))] + Step.pause)
        let last = stage.signals.last
        #expect(last?.status?.bitrate == 4_000_000)
        #expect(last?.attributes[.averageBitrate] == 3_000_000)
        #expect(last?.attributes[.observedBitrate] == 9_000_000)
        #expect(last?.attributes[.droppedFrames] == 3)
    }

    @Test(
        "Dropped frames are the growth of each entry's counter, for any values of the counters",
        arguments: [
            ([[3]], 3), ([[3], [5]], 5), ([[3], [5, 2]], 7), ([[5], [2], [4]], 7), ([[5, 5], [1]], 10),
            ([[-1], [4]], 4),
            ([[4], [-1], [6]], 6), ([[4], [], [4]], 8), ([[.max], [.max, .max]], .max),
        ] as [([[Int]], Int)]
    )
    func droppedFrames(_ logs: [[Int]], _ sum: Int) {
        var sums = AccessLogSums()
        for log in logs { sums.take(log.map { AccessLogEntry(droppedFrameCount: $0) }) }
        #expect(sums.droppedFrameCount == sum)
    }
}

@Suite("Quality of AVPlayer")
struct QualityTests {
    private func changes(_ steps: [Step]) -> [String] {
        let stage = ModelStage(steps)
        return stage.actions.filter { $0.hasPrefix("Quality") }
    }

    private func size(_ width: Double, _ height: Double) -> Step {
        .see(.presentationSize(first, width: width, height: height))
    }
    private func log(_ bitrates: Double...) -> Step {
        .see(.accessLog(first, bitrates.map { AccessLogEntry(indicatedBitrate: $0) }))
    }
    private func variant(_ bitrate: Double) -> Step {
        .see(.variant(first, VariantFacts(peakBitrate: bitrate, framesPerSecond: 25)))
    }

    @Test("A change of the size is a change of the quality after the start alone")
    func sizes() {
        let load: [Step] = [
            .see(.item(ItemFacts(id: first))), size(0, 0), size(640, 360), size(320, 180), log(1e6), log(1e6, 5e5),
        ]
        let start: [Step] = [.see(.time(0)), .see(.rate(1)), .see(.timeControl(.playing)), .run(1)]
        #expect(changes(load + start) == [])
        #expect(
            changes(load + start + [size(640, 360), size(640, 360), size(0, 0), size(320, 180)]) == [
                "QualityChangeUp", "QualityChangeDown",
            ]
        )
    }

    @Test("Size and bit rate of one switch are one change, in either order")
    func halves() {
        let start = Step.begin() + [size(640, 360), log(1e6)]
        #expect(changes(start + [log(1e6, 4e6), .run(20), size(1280, 720)]) == ["QualityChangeUp"])
        #expect(changes(start + [size(1280, 720), .run(2), log(1e6, 4e6)]) == ["QualityChangeUp"])
        #expect(changes(start + [log(1e6, 4e6), .run(90), size(1280, 720)]) == ["QualityChangeUp", "QualityChangeUp"])
        #expect(changes(start + [log(1e6, 4e6), log(1e6, 4e6, 2e6)]) == ["QualityChangeUp", "QualityChangeDown"])
        #expect(changes(start + [log(1e6, 4e6), size(320, 180)]) == ["QualityChangeUp", "QualityChangeDown"])
    }

    @Test("Where switches of variants are reported, the access log's bit rate is not asked")
    func variants() {
        let start = Step.begin() + [variant(1e6)]
        #expect(
            changes(start + [log(1e6), log(1e6, 9e6), variant(2e6), variant(2e6), variant(5e5)]) == [
                "QualityChangeUp", "QualityChangeDown",
            ]
        )
        let stage = ModelStage(start)
        #expect(stage.model.status(at: stage.now).framesPerSecond == 25)
        #expect(stage.model.status(at: stage.now).bitrate == 1_000_000)
    }
}
