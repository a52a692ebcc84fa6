import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentIMA

private let ad = AdFacts(
    id: "ad-1",
    title: "Soap",
    description: "About soap",
    system: "GDFP",
    advertiserName: "Soap Ltd",
    creativeID: "c-1",
    duration: 10,
    vastBitrate: 450,
    vastWidth: 640,
    vastHeight: 360,
    podIndex: 0
)

/// A row of the table: the SDK's events in a break with an ad, and the expected signals.
struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let observations: [IMAObservation]
    let actions: [String]
    init(_ name: String, _ observations: [IMAObservation], _ actions: [String]) {
        (testDescription, self.observations, self.actions) = (name, observations, actions)
    }
}

private let rows: [Row] = [
    Row("complete", [.event(.complete, nil)], ["AdFirstQuartile", "AdSecondQuartile", "AdThirdQuartile", "AdFinish"]),
    Row(
        "quartiles",
        [.event(.firstQuartile, nil), .event(.midpoint, nil), .event(.thirdQuartile, nil), .event(.complete, nil)],
        ["AdFirstQuartile", "AdSecondQuartile", "AdThirdQuartile", "AdFinish"]
    ),
    Row(
        "quartiles that come twice and late",
        [.event(.midpoint, nil), .event(.firstQuartile, nil), .event(.midpoint, nil)],
        ["AdFirstQuartile", "AdSecondQuartile"]
    ),
    Row("tap and click", [.event(.tapped, nil), .event(.clicked, nil)], ["AdClick", "AdClick"]),
    Row(
        "skip, and a completion that the SDK adds",
        [.event(.skipped, nil), .event(.complete, nil)],
        ["AdSkip", "AdFinish"]
    ),
    Row(
        "pause and resume, each twice",
        [.event(.paused, nil), .event(.paused, nil), .event(.resumed, nil), .event(.resumed, nil)],
        ["AdPauseBegin", "AdPauseFinish"]
    ),
    Row(
        "skip while paused",
        [.event(.paused, nil), .event(.skipped, nil)],
        ["AdPauseBegin", "AdPauseFinish", "AdSkip", "AdFinish"]
    ),
    Row(
        "waits for data",
        [.bufferingStart, .bufferingStart, .playbackReady, .progress],
        ["AdBufferBegin", "AdBufferFinish"]
    ),
    Row("moves on after a wait", [.bufferingStart, .progress], ["AdBufferBegin", "AdBufferFinish"]),
    Row(
        "the next ad of the pod",
        [.event(.loaded, AdFacts(id: "ad-2")), .event(.started, AdFacts(id: "ad-2"))],
        ["AdFinish", "AdBegin"]
    ),
    Row("the content resumes", [.contentResumeRequest, .event(.allAdsCompleted, nil)], ["AdFinish", "AdBreakFinish"]),
    Row("all ads completed without a resume", [.event(.allAdsCompleted, nil)], ["AdFinish", "AdBreakFinish"]),
    Row(
        "an error ends ad and break",
        [.error(IMAFailure(code: 301, type: "adLoadingFailed", message: nil)), .contentResumeRequest],
        ["AdError", "AdFinish", "AdBreakFinish"]
    ),
    Row("a break that cannot be fetched", [.event(.breakFetchError, nil)], ["AdError"]),
    Row("a second pause request", [.contentPauseRequest], []),
    Row("events that mean nothing here", [.event(.other, nil), .event(.loaded, ad)], []),
]

@Suite("What the IMA SDK reports and what follows from it")
struct IMAModelTests {
    private let now = MonotonicInstant(nanoseconds: 0)

    private func begun() -> IMAModel {
        var model = IMAModel()
        let begin = [IMAObservation.event(.loaded, ad), .contentPauseRequest, .event(.started, ad)].flatMap {
            model.observe($0, nil, at: now)
        }
        #expect(begin.map(\.action) == [.adBreakBegin, .adBegin])
        return model
    }

    @Test("The privacy manifest of Instrument covers the fields of the IMA SDK's monitor")
    func privacyManifest() {
        let covered = PrivacyManifest(.vocabulary)
        #expect(PrivacyManifest(.vocabulary.merging(.ima)).propertyList == covered.propertyList)
    }

    @Test("IMAModel reports what the table says in a break with an ad", arguments: rows)
    func table(_ row: Row) {
        var model = begun()
        #expect(row.observations.flatMap { model.observe($0, nil, at: now) }.map(\.action.name) == row.actions)
    }

    @Test("An ad without a pause request opens a break, which closes with the ad")
    func impliedBreak() {
        var model = IMAModel()
        let actions = [
            IMAObservation.event(.started, ad), .event(.complete, nil), .event(.started, ad), .event(.skipped, nil),
        ]
        .flatMap { model.observe($0, nil, at: now) }.map(\.action)
        let quartiles: [Action] = [.adFirstQuartile, .adSecondQuartile, .adThirdQuartile]
        #expect(
            actions == [.adBreakBegin, .adBegin] + quartiles + [
                .adFinish, .adBreakFinish, .adBreakBegin, .adBegin, .adSkip, .adFinish, .adBreakFinish,
            ]
        )
    }

    @Test("Every signal of an ad has the ad's description, also those whose event has none")
    func descriptions() {
        var model = begun()
        let playback = AdPlayback(currentTime: 2.5, totalTime: 10, bufferedTime: 7.25, volume: 0.5)
        let signals = [IMAObservation.progress, .event(.firstQuartile, nil), .event(.skipped, nil)].flatMap {
            model.observe($0, playback, at: now)
        }
        #expect(signals.map(\.action) == [.adFirstQuartile, .adSkip, .adFinish])
        for signal in signals {
            var expected = Attributes()
            expected[.adId] = "ad-1"
            expected[.adTitle] = "Soap"
            expected[.adDescription] = "About soap"
            expected[.adSystem] = "GDFP"
            expected[.adAdvertiserName] = "Soap Ltd"
            expected[.adCreativeId] = "c-1"
            expected[.adDuration] = .seconds(10)
            expected[.adPosition] = .milliseconds(2500)
            expected[.adBufferedTime] = .milliseconds(7250)
            expected[.adVolume] = 50
            expected[.adBitrate] = 450_000
            expected[.adResolutionWidth] = 640
            expected[.adResolutionHeight] = 360
            expected[.adRoll] = .pre
            #expect(signal.status.attributes == expected)
        }
    }

    @Test("The pod's index says where the break lies", arguments: [(0, AdRoll.pre), (-1, .post), (1, .mid), (7, .mid)])
    func rolls(_ index: Int, _ roll: AdRoll) {
        var model = IMAModel()
        let signals = model.observe(.event(.started, AdFacts(podIndex: index)), nil, at: now)
        #expect(signals.allSatisfy { $0.status.roll == roll })
    }

    @Test("What the SDK does not know is absent, and the ad before leaves nothing behind")
    func unknowns() {
        var model = begun()
        _ = model.observe(.progress, AdPlayback(currentTime: 4, totalTime: 10), at: now)
        let odd = AdPlayback(currentTime: .nan, totalTime: .infinity, bufferedTime: -1, volume: .nan)
        let next = AdFacts(duration: -1, vastBitrate: .max, vastWidth: -1)
        let begin = model.observe(.event(.started, next), odd, at: now).last?.status
        var expected = Attributes()
        expected[.adRoll] = begin?.roll
        #expect(begin?.attributes == expected)
        _ = model.observe(.contentResumeRequest, nil, at: now)
        #expect(model.status == AdStatus())
    }

    @Test("An ad whose end is not reported ends with its own description when the next ad starts")
    func missingEnd() {
        var model = begun()
        let next = AdFacts(id: "ad-2", podIndex: 0)
        let signals = [IMAObservation.event(.loaded, next), .event(.started, next)].flatMap {
            model.observe($0, nil, at: now)
        }
        #expect(signals.map(\.action) == [.adFinish, .adBegin])
        #expect(signals.map(\.status.id) == ["ad-1", "ad-2"])
    }

    @Test("An error has code, kind and message")
    func errors() {
        var model = begun()
        let error = model.observe(
            .error(IMAFailure(code: 301, type: "adPlayingFailed", message: "time-out")),
            nil,
            at: now
        ).first
        #expect(
            [error?.attributes[.errorCode], error?.attributes[.errorType], error?.attributes[.errorDescription]] == [
                "301", "adPlayingFailed", "time-out",
            ]
        )
    }

    @Test("The ads hub accepts every signal, for any order of reports", arguments: 0..<200)
    func property(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let player = ScriptedAds()
        let rejected = Lock<[String]>([])
        let instrument = Instrument(hub: AdsHub(), metricalc: nil, clock: VirtualClock()) { diagnostic in
            if diagnostic.kind == .rejected, let action = diagnostic.action {
                rejected.withLock { $0.append(action.name) }
            }
        }
        let content = instrument.add(PlayerTracker(ScriptedPlayer()))
        instrument.add(AdTracker(player), adsOf: content)
        var model = IMAModel()
        for _ in 0..<150 {
            let observation: IMAObservation =
                switch Int.random(in: 0...7, using: &generator) {
                case 0: .contentPauseRequest
                case 1: .contentResumeRequest
                case 2: .bufferingStart
                case 3: .playbackReady
                case 4: .progress
                case 5: .error(IMAFailure(code: 1, type: "unknown"))
                default:
                    .event(
                        IMAEvent.allCases.randomElement(using: &generator) ?? .other,
                        .random(using: &generator) ? ad : nil
                    )
                }
            for signal in model.observe(observation, nil, at: now) { player.send(signal) }
        }
        #expect(rejected.withLock { $0 } == [])
    }
}

/// A player of ads under the control of a test.
final class ScriptedAds: AdPlayer {
    let name = "ads"
    let declaredFields = PrivacyCatalogue.ima
    private struct State {
        var observer: (@Sendable (AdPlayerSignal) -> Void)?
    }

    private let state = Lock(State())

    var status: AdStatus {
        var status = AdStatus()
        status.id = "ad-1"
        return status
    }

    func report(to observer: (@Sendable (AdPlayerSignal) -> Void)?) {
        state.withLock { $0.observer = observer }
    }
    func send(_ signal: AdPlayerSignal) { state.withLock { $0.observer }?(signal) }
}

@Suite("The tracker of ads")
struct AdTrackerTests {
    @Test("AdTracker keeps the promises of every tracker")
    func contract() async throws {
        let players = Lock<[ScriptedAds]>([])
        try await TrackerContract.check {
            let player = ScriptedAds()
            players.withLock { $0 = [player] }
            return AdTracker(player)
        } exercise: { _ in
            for player in players.withLock({ $0 }) { player.send(AdPlayerSignal(.adClick)) }
        }
    }

    @Test("Events that the app emits carry what is true of the ad")
    func getters() {
        let seen = Lock<[String?]>([])
        let instrument = Instrument(hub: NoOpHub(), metricalc: nil, clock: VirtualClock())
        let content = instrument.add(PlayerTracker(ScriptedPlayer()))
        let id = instrument.add(AdTracker(ScriptedAds()), adsOf: content)
        seen.withLock { $0.append(instrument.value(of: .adId, from: id)) }
        #expect(seen.withLock { $0 } == ["ad-1"])
    }
}
