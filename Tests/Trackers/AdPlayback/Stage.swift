import Foundation
import Instrument
import InstrumentAds
import InstrumentBeacons
import InstrumentHTTP
import InstrumentOrigin
import InstrumentTransport
import LoopbackServers

@testable import InstrumentProbe

/// Keeps what it is given.
final class Recorder: Backend {
    let name: BackendName = "recorder"
    let policy = DeliveryPolicy(maxCount: 1000, maxAge: .zero)
    private let kept = Lock([Sample]())

    var samples: [Sample] { kept.withLock { $0 } }

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        kept.withLock { $0 += batch.records.map(\.sample) }
        return .acknowledged
    }
}

/// What a playback with ads left behind.
struct Staged {
    var outcome: ProbeOutcome?
    var samples: [Sample]
    var calls: [AdBeaconCall]
    var rejected: [Action: [Rejection: Int]]
    /// The requests, in order.
    var paths: [String]
    /// The largest number of requests that were answered later and were under way at a time.
    var mostUnderWay: Int

    var events: [Event] { samples.compactMap { if case .event(let event) = $0 { event } else { nil } } }
    var metrics: [Metric] { samples.compactMap { if case .metric(let metric) = $0 { metric } else { nil } } }
    func all(_ action: Action) -> [Event] { events.filter { $0.action == action } }

    /// The names of all beacons, in order.
    var beacons: [String] { calls.flatMap { call in call.beacons.map(\.kind.name) } }

    private static let course: Set<Action> = [
        .start, .pauseBegin, .pauseFinish, .seekBegin, .seekFinish, .end, .stop, .error, .adBreakBegin, .adBreakFinish,
        .adBegin, .adFinish, .adError, .adSkip, .adPauseBegin, .adPauseFinish, .adSignal,
    ]

    /// The course of the playback: `Action@milliseconds`, with the position of the content.
    var course: [String] {
        events.filter { Self.course.contains($0.action) }.map { event in
            let position = event[.position].map { ":\($0.milliseconds)" } ?? ""
            return "\(event.action.name)@\(event.time.instant.milliseconds)\(position)"
        }
    }
}

/// Plays a stream with ads from the test origin, in virtual time.
enum Stage {
    private static let shared = Task {
        try await Origin.start(media: [.fixtures(try await Fixtures.make(in: MediaCache.origin))])
    }

    /// One origin for all tests of the process.
    static func origin() async throws -> Origin { try await shared.value }

    /// Plays `path` of the origin.
    /// - Parameters:
    ///   - network: how requests go to the origin.
    ///   - answers: the answers of addresses in place of the origin's.
    ///   - beaconBackend: sends the beacons; nil only records them.
    ///   - script: schedules on the clock what the person does.
    ///   - afterwards: runs when the playback is over, before the deliveries are awaited.
    static func play(
        _ path: String,
        _ ads: AdConfiguration = AdConfiguration(),
        _ configuration: ProbeConfiguration = ProbeConfiguration(profile: .plain),
        clock: VirtualClock = VirtualClock(),
        network: TransportConfiguration = TransportConfiguration(),
        answers: @escaping @Sendable (_ path: String, _ query: String) -> OverlayTransport.Answer? = { _, _ in nil },
        beaconBackend: BeaconBackend? = nil,
        script: (VirtualClock, Probe) -> Void = { _, _ in },
        afterwards: () async -> Void = {}
    ) async throws -> Staged {
        let origin = try await origin()
        let transport = OverlayTransport(try SystemTransport(network), answer: answers)
        var configuration = configuration
        configuration.ads = ads
        let random = SeededGenerator()
        let probe = Probe(
            MediaSource(origin.url(path)),
            configuration: configuration,
            clock: clock,
            transport: transport,
            randomness: RandomSource(random)
        )
        let recorder = Recorder()
        let instrument = Instrument(
            hub: AdsHub(),
            metricalc: MultiplexMetricalc([CoreMetricalc(), AdMetricalc()]),
            backends: [recorder] + [beaconBackend].compactMap { $0 as (any Backend)? },
            clock: clock,
            deliveryClock: SystemClock()
        )
        let calls = Lock([AdBeaconCall]())
        let content = instrument.add(PlayerTracker(probe))
        if let player = probe.ads {
            let tracker = instrument.add(AdTracker(player), adsOf: content)
            let sent = beaconBackend.map { _ in Beacons(queue: instrument.queue, tracker: tracker) }
            player.report(beaconsTo: { call in
                calls.withLock { $0.append(call) }
                sent?.send(call.beacons, of: call.playback, ad: call.ad, media: call.media, macros: call.macros)
            })
        }
        instrument.ready()
        script(clock, probe)
        let outcome = await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: probe.playThrough(advancing: clock)) }.start()
        }
        await afterwards()
        await instrument.shutdown(timeout: .seconds(1800))
        return Staged(
            outcome: outcome,
            samples: recorder.samples,
            calls: calls.withLock { $0 },
            rejected: instrument.rejectedCounts,
            paths: transport.paths,
            mostUnderWay: transport.mostUnderWay
        )
    }
}

/// The same numbers in every run.
private struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}

extension PlayerProfile {
    /// A player that begins with one second of media and keeps the lowest rendition.
    static var plain: PlayerProfile { plain(retries: 0, every: .seconds(1)) }

    /// The same player, with requests that are repeated after a fixed time.
    static func plain(retries: Int, every time: Duration) -> PlayerProfile {
        PlayerProfile(
            name: "plain",
            buffer: BufferPolicy(startThreshold: .seconds(1), resumeThreshold: .seconds(1), maximum: .seconds(30)),
            rule: FixedRule(.lowest),
            start: .lowest,
            segmentUse: .complete,
            retry: RetryPolicy(maximumRetries: retries, backoff: .constant(time), stallTimeout: .seconds(5)),
            failurePlan: FailurePlan([.retry]),
            live: LivePolicy(targetLatency: .targetDurations(3))
        )
    }
}

extension VirtualClock {
    /// Schedules an action at a number of milliseconds.
    func at(_ milliseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        _ = schedule(at: MonotonicInstant(nanoseconds: milliseconds * 1_000_000), action)
    }
}

/// Playlists of the origin's segments of two seconds, under `/vod/fmp4/`: pictures alone, so that every duration is
/// exact.
enum Playlist {
    static let date = "2026-11-22T10:00:00.000Z"

    /// A calendar time this many seconds behind ``date``.
    static func date(_ seconds: Double) -> String {
        let milliseconds = Int(seconds * 1_000)
        return "2026-11-22T10:0\(milliseconds / 60_000):" + String(100 + milliseconds / 1_000 % 60).dropFirst()
            + "." + String(1_000 + milliseconds % 1_000).dropFirst() + "Z"
    }

    /// A media playlist of `count` segments, with tags before some of them.
    static func text(_ count: Int, from first: Int = 0, tags: [Int: [String]] = [:]) -> String {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:2", "#EXT-X-PLAYLIST-TYPE:VOD"]
        lines += ["#EXT-X-MAP:URI=\"/vod/fmp4/v0/init.mp4\"", "#EXT-X-PROGRAM-DATE-TIME:\(date)"]
        for number in 0..<count {
            lines += tags[number] ?? []
            lines += ["#EXTINF:2.000,", "/vod/fmp4/v0/\(first + number).m4s"]
        }
        return lines.joined(separator: "\n") + "\n#EXT-X-ENDLIST\n"
    }

    /// The tag of an interstitial that begins at a second of the content.
    static func interstitial(_ id: String, at seconds: Double, _ attributes: String) -> String {
        "#EXT-X-DATERANGE:CLASS=\"com.apple.hls.interstitial\",ID=\"\(id)\",START-DATE=\"\(date(seconds))\",\(attributes)"
    }
}
