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
        item.simulate(AVPlayerItem.didPlayToEndTimeNotification)
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

    @Test("A player that is muted and heard again while the main thread is busy has changed its volume twice")
    func changesWhileMainThreadIsBusy() async {
        let watched = Watched()
        await watched.listen()
        await watched.start(AVPlayerBindingTests.film())
        blockMainThread { [player = watched.player] in
            player.isMuted = true
            player.isMuted = false
        }
        await settle()
        #expect(watched.actions == ["StreamLoad", "Start", "VolumeChange", "VolumeChange"])
    }

    @Test("What an item shows while the main thread is busy is reported in order")
    func itemWhileMainThreadIsBusy() async {
        let item = AVPlayerBindingTests.film()
        let player = AVPlayer(playerItem: item)
        let adapter = AVPlayerAdapter(player, clock: VirtualClock())
        let ofPlayer = adapter.observePlayer { _, _ in }
        await settle()
        let notices = Collected<PlayerNotice>()
        let ofItem = adapter.observeItem(first) { notice, _ in notices.append(notice) }
        await notices.wait { $0.contains(.observation(.mediaSelection(first, language: nil, subtitles: nil))) }
        let count = notices.all.count
        blockMainThread {
            item.simulate(likelyToKeepUp: false)
            item.simulate(presentationSize: CGSize(width: 640, height: 360))
            item.simulate(presentationSize: CGSize(width: 1280, height: 720))
            item.simulate(likelyToKeepUp: true)
        }
        await settle()
        #expect(
            Array(notices.all.dropFirst(count)) == [
                .observation(.likelyToKeepUp(first, false)),
                .observation(.presentationSize(first, width: 640, height: 360)),
                .observation(.presentationSize(first, width: 1280, height: 720)),
                .observation(.likelyToKeepUp(first, true)),
            ]
        )
        withExtendedLifetime(player) {
            ofItem.cancel()
            ofPlayer.cancel()
        }
    }

    @Test("Notices of an item of another player change nothing")
    func foreignNotices() async {
        let (watched, other) = (Watched(), AVPlayerBindingTests.film("other"))
        await watched.listen()
        await watched.start(AVPlayerBindingTests.film())
        other.simulate(AVPlayerItem.didPlayToEndTimeNotification)
        other.simulate(AVPlayerItem.failedToPlayToEndTimeNotification, error: NSError(domain: "D", code: 1))
        other.simulate(AVPlayerItem.playbackStalledNotification)
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
        one.simulate(AVPlayerItem.didPlayToEndTimeNotification)
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
        item.simulate(AVPlayerItem.failedToPlayToEndTimeNotification, error: error)
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
        #expect(watched.player.observerCount == 10)
        #expect(watched.player.timeObserverCount == 1)
        #expect(item.observerCount == 4)
        watched.monitor.report(to: nil)
        watched.monitor.report(to: nil)
        await settle()
        #expect(watched.player.observerCount + watched.player.timeObserverCount + item.observerCount == 0)
        watched.player.pause()
        item.simulate(AVPlayerItem.didPlayToEndTimeNotification)
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
            #expect(player.observerCount == 10)
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

    @Test("A pause has the reason of the notice of this player")
    func pauseReason() async {
        let (watched, other) = (Watched(), AVPlayer())
        await watched.listen()
        await watched.start(AVPlayerBindingTests.film())
        other.simulate(rateChangeBecause: .appBackgrounded)
        watched.player.pause()
        watched.player.simulate(rateChangeBecause: .audioSessionInterrupted)
        await settle()
        watched.player.play()
        watched.player.simulate(rateChangeBecause: .setRateCalled)
        await settle()
        watched.clock.advance(by: .seconds(2))
        watched.player.rate = 0
        watched.player.simulate(rateChangeBecause: .init(rawValue: "new"))
        watched.player.simulate(.paused)
        await settle()
        let pauses = watched.signals.all.filter { $0.action == .pauseBegin || $0.action == .pauseFinish }
        #expect(pauses.map(\.action) == [.pauseBegin, .pauseFinish, .pauseBegin])
        #expect(pauses.map { $0.attributes[.pauseReason] }.dropFirst().first == "audioSessionInterrupted")
    }

    @Test("A wait for others who watch together is a pause")
    func coordinatedPlayback() async {
        let watched = Watched()
        await watched.listen()
        await watched.start(AVPlayerBindingTests.film())
        watched.player.simulate(.waitingToPlayAtSpecifiedRate, because: .waitingForCoordinatedPlayback)
        await settle()
        watched.clock.advance(by: .seconds(3))
        watched.player.simulate(.playing)
        await watched.run(1, from: 1)
        #expect(watched.actions == ["StreamLoad", "Start", "PauseBegin", "PauseFinish"])
        #expect(
            watched.signals.all.suffix(2).map { $0.attributes[.pauseReason] } == [
                "waitingForCoordinatedPlayback", "waitingForCoordinatedPlayback",
            ]
        )
    }

    @Test("A wait has its reason where it is over before the main thread looks")
    func waitWhileMainThreadIsBusy() async {
        let watched = Watched()
        await watched.listen()
        await watched.start(AVPlayerBindingTests.film())
        blockMainThread { [player = watched.player, clock = watched.clock] in
            player.simulate(.waitingToPlayAtSpecifiedRate, because: .waitingForCoordinatedPlayback)
            clock.advance(by: .seconds(3))
            player.simulate(.playing)
        }
        await watched.run(1, from: 1)
        #expect(watched.actions == ["StreamLoad", "Start", "PauseBegin", "PauseFinish"])
        #expect(watched.signals.all.last?.attributes[.pauseReason] == "waitingForCoordinatedPlayback")
    }

    @Test("A live stream has its latency and its window, and a jump that keeps the latency is no seek")
    func live() async {
        let watched = Watched()
        await watched.listen()
        let item = AVPlayerBindingTests.film("live")
        item.simulate(seekable: (0, 50), (60, 101))
        item.automaticallyPreservesTimeOffsetFromLive = true
        watched.player.replaceCurrentItem(with: item)
        watched.player.simulate(time: 90)
        await settle()
        watched.player.play()
        await watched.run(1, from: 90)
        watched.player.simulate(.waitingToPlayAtSpecifiedRate, because: .toMinimizeStalls)
        await settle()
        watched.clock.advance(by: .seconds(8))
        item.simulate(seekable: (8, 50), (60, 109))
        item.simulate(jumpTo: 99)
        watched.player.simulate(time: 99)
        watched.player.simulate(.playing)
        await watched.run(1, from: 99)
        #expect(watched.actions == ["StreamLoad", "Start", "BufferBegin", "BufferFinish"])
        let stall = watched.signals.all.first { $0.action == .bufferBegin }
        #expect(stall?.attributes[.liveLatency] == .seconds(10))
        #expect(stall?.attributes[.dvrWindow] == .seconds(101))
    }

    @Test("A seek while paused ends when the metrics say so, at the date of the event")
    func seekWhilePaused() async {
        let watched = Watched()
        await watched.listen()
        let item = AVPlayerBindingTests.film()
        await watched.start(item)
        watched.player.pause()
        await settle()
        watched.clock.advance(by: .seconds(1))
        item.simulate(jumpTo: 40)
        await settle()
        let complete = watched.clock.wallTime.milliseconds + 500
        watched.clock.advance(by: .seconds(2))
        item.simulate(
            AVMetricPlayerItemSeekDidCompleteEvent(at: Date(timeIntervalSince1970: Double(complete) / 1000))
        )
        await watched.signals.wait { $0.contains { $0.action == .seekFinish } }
        #expect(watched.actions.suffix(3) == ["PauseBegin", "SeekBegin", "SeekFinish"])
        #expect(watched.signals.all.suffix(2).map { $0.instant?.milliseconds } == [2000, 2500])
    }

    @Test(
        "Requests are reported when the app wants them, without those that the cache answered",
        arguments: [true, false]
    )
    func requests(isWanted: Bool) async {
        let item = AVPlayerBindingTests.film()
        let player = AVPlayer(playerItem: item)
        let adapter = AVPlayerAdapter(player, clock: VirtualClock(), reportsRequests: isWanted)
        let notices = Collected<PlayerNotice>()
        let observation = adapter.observePlayer { _, _ in }
        await settle()
        let ofItem = adapter.observeItem(first) { notice, _ in notices.append(notice) }
        let start = Date(timeIntervalSince1970: 5)
        let range = NSRange(location: 100, length: 5000)
        let events: [AVMetricEvent] = [
            AVMetricHLSPlaylistRequestEvent(.init(from: start, firstByte: 0.25, end: 0.5)),
            AVMetricHLSMediaSegmentRequestEvent(nil),
            AVMetricHLSMediaSegmentRequestEvent(.init(from: start, firstByte: 0, end: 0, isCached: true)),
            AVMetricHLSMediaSegmentRequestEvent(.init(from: start, firstByte: 1, end: 1.5, range: range), isMap: true),
            AVMetricHLSMediaSegmentRequestEvent(.init(from: start, firstByte: 1, end: 2)),
            AVMetricContentKeyRequestEvent(
                .init(from: start, firstByte: 0, end: 2, error: AVMetricErrorEvent(recovers: true))
            ),
            AVMetricErrorEvent(recovers: false),
            AVMetricPlayerItemInitialLikelyToKeepUpEvent(after: 1.25),
        ]
        for event in events { item.simulate(event) }
        // Events come in order, so that those before the last one have come with it.
        let last = AVPlayerObservation.firstLikelyToKeepUp(first, after: 1.25)
        await notices.wait { $0.contains(.observation(last)) }
        let requests = notices.all.compactMap { notice in
            if case .observation(.request(first, let request)) = notice { request } else { nil }
        }
        let expected: [MediaRequestFacts] = [
            .init(kind: .manifest, time: 0.5, timeToFirstByte: 0.25, byteCount: 0),
            .init(kind: .initialization, time: 1.5, timeToFirstByte: 1, byteCount: 5000),
            .init(kind: .segment, time: 2, timeToFirstByte: 1, byteCount: 0),
            .init(kind: .key, time: 2, byteCount: 0, isFailed: true),
        ]
        #expect(requests == (isWanted ? expected : []))
        observation.cancel()
        ofItem.cancel()
    }

    @Test("An error has the code of the innermost error that caused it")
    func underlyingErrors() async {
        let watched = Watched()
        await watched.listen()
        let item = AVPlayerBindingTests.film()
        await watched.start(item)
        let innermost = NSError(domain: "NSOSStatusErrorDomain", code: -12888)
        let middle = NSError(domain: "CoreMediaErrorDomain", code: -1, userInfo: [NSUnderlyingErrorKey: innermost])
        item.simulate(
            failure: NSError(
                domain: "AVFoundationErrorDomain",
                code: -11800,
                userInfo: [NSUnderlyingErrorKey: middle]
            )
        )
        await settle()
        let error = watched.signals.all.last { $0.action == .error }
        #expect(error?.attributes[.errorCode] == "AVFoundationErrorDomain -11800")
        #expect(error?.attributes[.underlyingErrorCode] == "NSOSStatusErrorDomain -12888")
    }

    @Test("A picture that is hidden for want of HDCP is an error, once")
    func obscuredPicture() async {
        let watched = Watched()
        await watched.listen()
        await watched.start(AVPlayerBindingTests.film())
        for isObscured in [true, true, false, true] { watched.player.simulate(obscured: isObscured) }
        await settle()
        let errors = watched.signals.all.filter { $0.action == .error }
        #expect(
            errors.map { $0.attributes[.errorCode] } == Array(repeating: "insufficientExternalProtection", count: 2)
        )
        #expect(errors.allSatisfy { $0.attributes[.isFatal] == nil })
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
            player.replaceCurrentItem(with: nil)
            player.replaceCurrentItem(with: AVPlayerBindingTests.film())
            await settle()
        }
    }
}

private let first = ItemID(number: 1)

@MainActor
@Suite("InterstitialMonitor over declared classes", .serialized)
struct InterstitialMonitorTests {
    @Test("An interstitial event that begins and ends while the main thread is busy is an ad break")
    func breakWhileMainThreadIsBusy() async {
        let primary = AVPlayer()
        let signals = Collected<AdPlayerSignal>()
        let monitor = InterstitialMonitor(primary, clock: VirtualClock())
        monitor.report { signals.append($0) }
        await settle()
        let events = AVPlayerInterstitialEventMonitor.latest
        blockMainThread {
            events?.simulate(event: AVPlayerInterstitialEvent(identifier: "mid-1", seconds: 30))
            events?.simulate(event: nil)
        }
        await settle()
        #expect(signals.all.map(\.action) == [.adBreakBegin, .adBreakFinish])
        #expect(signals.all.map(\.status.id) == ["mid-1", "mid-1"])
    }

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

    @Test("An interstitial with a date at the beginning of the content is a pre-roll")
    func datedPreRoll() async {
        let signals = Collected<AdPlayerSignal>()
        let primary = AVPlayer()
        let monitor = InterstitialMonitor(primary)
        monitor.report { signals.append($0) }
        await settle()
        let item = AVPlayerBindingTests.film()
        item.simulate(duration: 60)
        for position in [0.0, 30, 60] {
            item.simulate(jumpTo: position)
            let event = AVPlayerInterstitialEvent(identifier: "\(position)", date: Date(), primaryItem: item)
            AVPlayerInterstitialEventMonitor.latest?.simulate(event: event)
            await settle()
        }
        let begins = signals.all.filter { $0.action == .adBreakBegin }
        #expect(begins.map(\.status.roll) == [.pre, .mid, .post])
    }

    @Test("A skipped interstitial is an ad that was skipped, and one that cannot be played is an error")
    func skipped() async {
        let (primary, interstitials) = (AVPlayer(), AVQueuePlayer())
        let (clock, signals) = (VirtualClock(), Collected<AdPlayerSignal>())
        AVPlayerInterstitialEventMonitor.nextInterstitialPlayer = interstitials
        defer { AVPlayerInterstitialEventMonitor.nextInterstitialPlayer = nil }
        let monitor = InterstitialMonitor(primary, clock: clock)
        monitor.report { signals.append($0) }
        await settle()
        let events = AVPlayerInterstitialEventMonitor.latest
        let event = AVPlayerInterstitialEvent(identifier: "mid-1", seconds: 30)
        let next = AVPlayerInterstitialEvent(identifier: "mid-2", seconds: 40)
        events?.simulate(event: event)
        interstitials.simulate(item: film("ad"))
        interstitials.play()
        for step in 0...2 {
            interstitials.simulate(time: Double(step) / 4)
            clock.advance(by: .milliseconds(250))
        }
        await settle()
        events?.simulate(skipOf: next)
        events?.simulate(skipOf: event)
        events?.simulate(event: nil)
        events?.simulate(removalOf: next, because: nil)
        events?.simulate(removalOf: next, because: NSError(domain: "D", code: 4))
        await settle()
        #expect(
            signals.all.map(\.action.name) == [
                "AdBreakBegin", "AdBegin", "AdSkip", "AdFinish", "AdBreakFinish", "AdError",
            ]
        )
        #expect(signals.all.last?.status.id == "mid-2")
        #expect(signals.all.last?.attributes[.errorCode] == "D 4")
        monitor.report(to: nil)
        await settle()
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
