import AVFoundation
import Dispatch
import Foundation
import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentAVPlayer

@MainActor
@Suite("AVPlayerMonitor over declared classes")
struct AVPlayerMonitorTests {
    @Test("A film that is loaded, played, paused and played to its end is reported with its attributes")
    func film() async {
        let watched = Watched()
        await watched.listen()
        let item = AVPlayerBindingTests.film()
        await watched.start(item)
        item.simulate(duration: 60)
        item.simulate(presentationSize: CGSize(width: 1280, height: 720))
        watched.player.volume = 0.25
        watched.player.pause()
        await settle()
        watched.clock.advance(by: .seconds(2))
        watched.player.play()
        await watched.run(1, from: 1)
        item.simulate(.AVPlayerItemDidPlayToEndTime)
        await settle()
        #expect(watched.actions == ["StreamLoad", "Start", "VolumeChange", "PauseBegin", "PauseFinish", "End"])
        let status = watched.signals.all.last?.status
        #expect(watched.monitor.status.source == "https://cdn.example/film.m3u8")
        #expect(status?.source == "https://cdn.example/film.m3u8")
        #expect(status?.title == "film.m3u8")
        #expect(status?.duration == .seconds(60))
        #expect(status?.volume == 25)
        #expect([status?.resolutionWidth, status?.resolutionHeight] == [1280, 720])
        #expect(watched.signals.all.map { $0.instant?.milliseconds } == [0, 0, 1000, 1000, 3000, 4000])
    }

    @Test("A stall has the reason, and a seek comes from the jump's notice")
    func stallAndSeek() async {
        let watched = Watched()
        await watched.listen()
        let item = AVPlayerBindingTests.film()
        await watched.start(item)
        watched.player.simulate(.waitingToPlayAtSpecifiedRate, because: .toMinimizeStalls)
        await settle()
        watched.clock.advance(by: .seconds(1))
        watched.player.simulate(.playing)
        await watched.run(1, from: 1)
        item.simulate(jumpTo: 40)
        await settle()
        watched.clock.advance(by: .seconds(1))
        await watched.run(1, from: 40)
        #expect(watched.actions == ["StreamLoad", "Start", "BufferBegin", "BufferFinish", "SeekBegin", "SeekFinish"])
        #expect(
            watched.signals.all.first { $0.action == .bufferBegin }?.attributes[.waitingReason] == "toMinimizeStalls"
        )
        #expect(watched.signals.all.map { $0.instant?.milliseconds } == [0, 0, 1000, 2000, 3000, 4000])
    }

    @Test("Notices of an item of another player change nothing")
    func foreignNotices() async {
        let (watched, other) = (Watched(), AVPlayerBindingTests.film("other"))
        await watched.listen()
        await watched.start(AVPlayerBindingTests.film())
        other.simulate(.AVPlayerItemDidPlayToEndTime)
        other.simulate(.AVPlayerItemFailedToPlayToEndTime, error: NSError(domain: "D", code: 1))
        other.simulate(.AVPlayerItemPlaybackStalled)
        other.simulate(jumpTo: 30)
        await settle()
        #expect(watched.actions == ["StreamLoad", "Start"])
    }

    @Test("A queue that advances with its rate unchanged is a next playback")
    func queue() async {
        let watched = Watched(AVQueuePlayer())
        watched.player.actionAtItemEnd = .advance
        await watched.listen()
        let (one, two) = (AVPlayerBindingTests.film("one"), AVPlayerBindingTests.film("two"))
        await watched.start(one)
        one.simulate(.AVPlayerItemDidPlayToEndTime)
        watched.player.simulate(item: two)
        await settle()
        #expect(one.observerCount == 0)
        #expect(two.observerCount == 4)
        await watched.run(1)
        watched.player.simulate(item: nil)
        await settle()
        #expect(watched.actions == ["StreamLoad", "Start", "Next", "StreamLoad", "Start", "Stop"])
    }

    @Test("A failed item and its notice are one fatal error, and the error log is no fatal error")
    func failures() async {
        let watched = Watched()
        await watched.listen()
        let item = AVPlayerBindingTests.film()
        await watched.start(item)
        item.simulate(errorLog: [.init(domain: "CoreMediaErrorDomain", code: -12938, comment: "HTTP 404")])
        await watched.signals.wait { $0.contains { $0.action == .error } }
        let error = NSError(domain: "AVFoundationErrorDomain", code: -11800)
        item.simulate(failure: error)
        item.simulate(.AVPlayerItemFailedToPlayToEndTime, error: error)
        await settle()
        let errors = watched.signals.all.filter { $0.action == .error }
        #expect(errors.map { $0.attributes[.isFatal] } == [nil, true])
        #expect(
            errors.map { $0.attributes[.errorCode] } == [
                "CoreMediaErrorDomain -12938", "AVFoundationErrorDomain -11800",
            ]
        )
    }

    @Test("The failure of the player itself is reported")
    func playerFailure() async {
        let watched = Watched()
        await watched.listen()
        watched.player.simulate(failure: NSError(domain: "D", code: 3))
        await settle()
        #expect(watched.signals.all.map { $0.attributes[.errorCode] } == ["D 3"])
    }

    @Test("The access log is read on another queue than the main queue")
    func accessLog() async {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        let reads = Collected<Bool>()
        let watched = Watched()
        await watched.listen()
        let item = AVPlayerBindingTests.film()
        await watched.start(item)
        item.simulate { reads.append(DispatchQueue.getSpecific(key: key) == true) }
        var entry = AVPlayerItemAccessLogEvent.Values()
        entry.indicatedBitrate = 1e6
        item.simulate(accessLog: [entry])
        await reads.wait { $0.count == 1 }
        entry.indicatedBitrate = 4e6
        item.simulate(accessLog: [entry])
        await watched.signals.wait { $0.contains { $0.action == .qualityChangeUp } }
        #expect(reads.all.allSatisfy { !$0 })
        #expect(watched.monitor.status.bitrate == 4_000_000)
    }

    @Test("Languages come from the media selection, and variants from the metrics")
    func selectionAndVariants() async {
        let item = AVPlayerBindingTests.film()
        let (audible, legible) = (AVMediaSelectionGroup(), AVMediaSelectionGroup())
        item.asset.simulate(audible, for: .audible)
        item.asset.simulate(legible, for: .legible)
        let player = AVPlayer(playerItem: item)
        let adapter = AVPlayerAdapter(player, clock: VirtualClock())
        let notices = Collected<PlayerNotice>()
        let observation = adapter.observePlayer { notice, _ in notices.append(notice) }
        await settle()
        let ofItem = adapter.observeItem(ItemID(number: 1)) { notice, _ in notices.append(notice) }
        await notices.wait { $0.contains(.observation(.mediaSelection(first, language: nil, subtitles: nil))) }
        item.simulate(
            selection: AVMediaSelection([
                (audible, AVMediaSelectionOption(tag: "de")), (legible, AVMediaSelectionOption(tag: "en")),
            ])
        )
        await notices.wait { $0.contains(.observation(.mediaSelection(first, language: "de", subtitles: "en"))) }
        item.simulate(switchTo: AVAssetVariant(peak: 1, average: 1, frameRate: 1), succeeds: false)
        item.simulate(switchTo: AVAssetVariant(peak: 5e6, average: 4e6, frameRate: 25))
        let facts = VariantFacts(peakBitrate: 5e6, averageBitrate: 4e6, framesPerSecond: 25)
        await notices.wait { $0.contains(.observation(.variant(first, facts))) }
        #expect(
            !notices.all.contains(
                .observation(.variant(first, VariantFacts(peakBitrate: 1, averageBitrate: 1, framesPerSecond: 1)))
            )
        )
        observation.cancel()
        ofItem.cancel()
    }

    @Test("Every observer is removed when the listening ends, once")
    func removal() async {
        let watched = Watched()
        await watched.listen()
        let item = AVPlayerBindingTests.film()
        await watched.start(item)
        #expect(watched.player.observerCount == 9)
        #expect(watched.player.timeObserverCount == 1)
        #expect(item.observerCount == 4)
        watched.monitor.report(to: nil)
        watched.monitor.report(to: nil)
        await settle()
        #expect(watched.player.observerCount + watched.player.timeObserverCount + item.observerCount == 0)
        watched.player.pause()
        item.simulate(.AVPlayerItemDidPlayToEndTime)
        await settle()
        #expect(watched.actions == ["StreamLoad", "Start"])
    }

    @Test("An end that comes before the beginning has reached the main queue leaves no observer")
    func endBeforeBegin() async {
        let watched = Watched()
        watched.monitor.report { _ in }
        watched.monitor.report(to: nil)
        await settle()
        #expect(watched.player.observerCount + watched.player.timeObserverCount == 0)
    }

    @Test("A dropped monitor leaves no observer")
    func dropping() async {
        let player = AVPlayer(playerItem: AVPlayerBindingTests.film())
        do {
            let monitor = AVPlayerMonitor(player)
            monitor.report { _ in }
            await settle()
            #expect(player.observerCount == 9)
        }
        await settle()
        #expect(player.observerCount + player.timeObserverCount == 0)
    }

    @Test("Nothing keeps the player alive, and a monitor that outlives it works")
    func lifetime() async {
        weak var gone: AVPlayer?
        let (monitor, signals) = await { () -> (AVPlayerMonitor, Collected<PlayerSignal>) in
            let watched = Watched()
            gone = watched.player
            await watched.listen()
            await watched.start(AVPlayerBindingTests.film())
            return (watched.monitor, watched.signals)
        }()
        await settle()
        #expect(gone == nil)
        #expect(monitor.status.position == .seconds(1))
        monitor.stop()
        #expect(signals.all.last?.action == .stop)
        monitor.report { _ in }
        monitor.report(to: nil)
        await settle()
    }

    @Test("A player that plays already is joined late")
    func joined() async {
        let watched = Watched(AVPlayer(playerItem: AVPlayerBindingTests.film()))
        watched.player.play()
        watched.player.simulate(time: 30)
        await watched.listen()
        await watched.run(1, from: 30)
        #expect(watched.actions == ["StreamLoad", "Start"])
        #expect(watched.signals.all.map { $0.attributes[.joinedLate] } == [true, true])
    }

    @Test("AirPlay with the rate 0 and too little data is a stall")
    func airPlay() async {
        let watched = Watched()
        await watched.listen()
        let item = AVPlayerBindingTests.film()
        await watched.start(item)
        watched.player.simulate(externalPlayback: true)
        item.simulate(likelyToKeepUp: false)
        watched.player.rate = 0
        await settle()
        watched.clock.advance(by: .seconds(1))
        item.simulate(likelyToKeepUp: true)
        watched.player.rate = 1
        await watched.run(1, from: 1)
        #expect(watched.actions == ["StreamLoad", "Start", "BufferBegin", "BufferFinish"])
    }

    @Test("A tracker over the monitor keeps the promises of every tracker")
    nonisolated func contract() async throws {
        let players = Lock<[AVPlayer]>([])
        try await TrackerContract.check {
            let player = AVPlayer()
            players.withLock { $0.append(player) }
            return PlayerTracker(AVPlayerMonitor(player))
        } exercise: { _ in
            guard let player = players.withLock({ $0.last }) else { return }
            await settle()
            await player.replaceCurrentItem(with: nil)
            await player.replaceCurrentItem(with: AVPlayerBindingTests.film())
            await settle()
        }
    }
}

private let first = ItemID(number: 1)

@MainActor
@Suite("InterstitialMonitor over declared classes", .serialized)
struct InterstitialMonitorTests {
    @Test("An interstitial event of the primary player is an ad break with its ads")
    func adBreak() async {
        let (primary, interstitials) = (AVPlayer(), AVQueuePlayer())
        let (clock, signals) = (VirtualClock(), Collected<AdPlayerSignal>())
        AVPlayerInterstitialEventMonitor.nextInterstitialPlayer = interstitials
        defer { AVPlayerInterstitialEventMonitor.nextInterstitialPlayer = nil }
        let monitor = InterstitialMonitor(primary, clock: clock)
        monitor.report { signals.append($0) }
        await settle()
        let events = AVPlayerInterstitialEventMonitor.latest
        events?.simulate(event: AVPlayerInterstitialEvent(identifier: "mid-1", seconds: 30))
        let ad = film("ad")
        interstitials.simulate(item: ad)
        await settle()
        ad.simulate(duration: 2)
        interstitials.play()
        for step in 0...6 {
            interstitials.simulate(time: Double(step) / 4)
            clock.advance(by: .milliseconds(250))
        }
        await settle()
        #expect(monitor.status.id == "mid-1")
        #expect(monitor.status.roll == .mid)
        interstitials.simulate(item: nil)
        events?.simulate(event: nil)
        await settle()
        #expect(
            signals.all.map(\.action.name) == [
                "AdBreakBegin", "AdBegin", "AdFirstQuartile", "AdSecondQuartile", "AdThirdQuartile", "AdFinish",
                "AdBreakFinish",
            ]
        )
        #expect(monitor.status == AdStatus())
        monitor.report(to: nil)
        await settle()
        #expect(interstitials.observerCount + interstitials.timeObserverCount + ad.observerCount == 0)
    }

    @Test(
        "The cue and the time say where a break lies",
        arguments: [
            ("join", 30.0, AdRoll.pre), ("leave", 30, .post), ("none", 0, .pre), ("none", 30, .mid),
        ]
    )
    func rolls(_ cue: String, _ seconds: Double, _ roll: AdRoll) async {
        let signals = Collected<AdPlayerSignal>()
        let (primary, monitors) = (AVPlayer(), Collected<InterstitialMonitor>())
        let monitor = InterstitialMonitor(primary)
        monitors.append(monitor)
        monitor.report { signals.append($0) }
        await settle()
        let cues: [String: AVPlayerInterstitialEvent.Cue] = ["join": .joinCue, "leave": .leaveCue]
        let event = AVPlayerInterstitialEvent(identifier: "e", seconds: seconds, cue: cues[cue] ?? .noCue)
        AVPlayerInterstitialEventMonitor.latest?.simulate(event: event)
        await settle()
        #expect(signals.all.map(\.status.roll) == [roll])
    }

    @Test("Nothing keeps the primary player alive")
    func lifetime() async {
        weak var gone: AVPlayer?
        let monitor: InterstitialMonitor
        do {
            let primary = AVPlayer()
            gone = primary
            monitor = InterstitialMonitor(primary)
            monitor.report { _ in }
            await settle()
        }
        await settle()
        #expect(gone == nil)
        monitor.report(to: nil)
        await settle()
    }
}
