import Foundation
import Instrument
import InstrumentOrigin
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentProbe

/// Real requests over real sockets to the test origin. Results that depend on the wall clock are checked only on a
/// machine that is not busy.
@Suite("Streams from the test origin", .ownThread, .timeLimit(.minutes(30)))
struct OriginStreamAloneTests {

    /// A playback and the origin's request log.
    struct Watched {
        var played: Played
        var paths: [String]
        var records: [RequestRecord]
        var queries: [String]
        var requests: [AccessRecord]
        /// The instant at which the origin received the first request and its schedule began.
        var begun: MonotonicInstant
    }

    /// Plays as fast as the network allows, in virtual time, unless `isRealTime`.
    func play(
        _ path: String,
        _ configuration: ProbeConfiguration = ProbeConfiguration(profile: .plain()),
        schedule: DeliverySchedule = .unlimited,
        faults: [FaultRule] = [],
        originClock: any SchedulingClock = .system,
        licence: String? = nil,
        isRealTime: Bool = false,
        stopAfter seconds: Double? = nil,
        script: (Probe) -> Void = { _ in }
    ) async throws -> Watched {
        let fixtures = try await InstrumentOrigin.Fixtures.make(in: MediaCache.origin)
        var settings = OriginConfiguration()
        // The link serves requests in their order, which can be computed by hand.
        settings.sharing = .firstComeFirstServed
        settings.clock = originClock
        let origin = try await Origin.start(
            media: [.fixtures(fixtures)],
            schedule: schedule,
            faults: faults,
            configuration: settings
        )
        var configuration = configuration
        if let licence { configuration.licenceURL = try HTTPURL(origin.url(licence, session: "a")) }
        let records = Lock([RequestRecord]())
        let virtual = VirtualClock(wallTime: SystemClock().wallTime)
        let clock: any SchedulingClock = isRealTime ? SystemClock() : virtual
        let probe = Probe(MediaSource(origin.url(path, session: "a")), configuration: configuration, clock: clock)
        probe.report(requestsTo: { record in records.withLock { $0.append(record) } })
        let recorder = Recorder()
        let instrument = Instrument(
            hub: CoreHub(),
            metricalc: CoreMetricalc(),
            backends: [recorder],
            clock: clock,
            deliveryClock: SystemClock()
        )
        instrument.add(PlayerTracker(probe))
        instrument.ready()
        script(probe)
        if let seconds { _ = clock.schedule(at: clock.now.advanced(by: .seconds(seconds))) { probe.stop() } }
        var outcome: ProbeOutcome?
        if isRealTime {
            probe.play()
            outcome = await probe.waitUntilFinished()
        } else {
            outcome = await withCheckedContinuation { continuation in
                Thread { continuation.resume(returning: probe.playThrough(advancing: virtual)) }.start()
            }
        }
        await instrument.shutdown(timeout: .seconds(1800))
        let paths = origin.requests.map { $0.path + ($0.range.map { " " + $0 } ?? "") }
        let requests = origin.requests
        let queries = requests.compactMap { $0.query.isEmpty ? nil : $0.query }
        await origin.stop()
        let played = Played(outcome: outcome, events: recorder.events, rejected: instrument.rejectedCounts)
        return Watched(
            played: played,
            paths: paths,
            records: records.withLock { $0 },
            queries: queries,
            requests: requests,
            begun: origin.instantOfFirst(requests)
        )
    }

    @Test(
        "Every kind of stream is played to its end without a repeated request",
        arguments: [
            "vod/ts/master.m3u8", "vod/fmp4/master.m3u8", "vod/range/master.m3u8", "vod/aes/index.m3u8",
            "vod/ts/descending.m3u8", "vod/fmp4/servers.m3u8", "vod/dash/servers.mpd", "vod/dash/number.mpd",
            "vod/dash/time.mpd", "vod/dash/timeline.mpd", "vod/dash/list.mpd",
            "vod/dash/base.mpd",
            "vod/dash/periods.mpd",
        ]
    )
    func kinds(path: String) async throws {
        let watched = try await play(path)
        #expect(watched.played.outcome == .ended, "\(path): \(watched.paths)")
        #expect(Set(watched.paths).count == watched.paths.count, "\(path): \(watched.paths)")
        #expect(watched.played.actions.filter { $0 == .bufferBegin }.count == 1)
        #expect(watched.played.all(.streamWarning).map { $0.attributes[.warningDescription] ?? "" } == [])
        let start = try #require(watched.played.time(.start))
        let end = try #require(watched.played.time(.end))
        #expect(abs(end - start - 24_000) < 60, "\(path): \(end - start)")
        #expect(watched.records.count == watched.paths.count)
    }

    @Test(
        "One stall has the position and duration of the schedule, to a tenth of a second",
        arguments: ["ts", "fmp4"],
        [PlayerProfile.SegmentUse.complete, .progressive]
    )
    func stall(packaging: String, use: PlayerProfile.SegmentUse) async throws {
        // An outage of six seconds after two and a half seconds of 2 Mbit/s; the buffer has at most four seconds.
        let schedule = try DeliverySchedule("2000k for 2.5s, 0k for 6s, 2000k")
        let path = "vod/\(packaging)/master.m3u8"
        var configuration = ProbeConfiguration(
            profile: .plain(maximum: .seconds(4), use: use, rule: FixedRule(.rung(1)))
        )
        // Longer than the outage.
        configuration.profile[retry: .segment].stallTimeout = .seconds(20)
        let machine = MachineLoad()
        let watched = try await play(path, configuration, schedule: schedule, isRealTime: true, stopAfter: 14)
        guard machine.allowsJudging("a stall of a stream, to a tenth of a second") else { return }
        // The link sends pieces of 10 ms: whether the last of them before the outage completes a packet of sound, which
        // lasts a fifth of a second, is a matter of the machine's timers.
        let outages = [0, -10, -20, -30, 10].map { 2_500_000_000 + Int64($0) * 1_000_000 }
        let computed = try await analytic(path, configuration, watched, outages: outages)
        func instant(_ played: Played, _ action: Action, _ index: Int) throws -> MonotonicInstant {
            let found = played.all(action)
            try #require(found.indices.contains(index), "\(action) \(found.count)")
            return found[index].time.instant
        }
        let moments = [(Action.start, 0), (.bufferBegin, 1), (.bufferFinish, 1)]
        let real = try moments.map {
            Int64(watched.begun.duration(to: try instant(watched.played, $0, $1)).milliseconds)
        }
        let expected = try computed.map { played in try moments.map { try instant(played, $0, $1).milliseconds } }
        #expect(
            expected.contains { zip($0, real).allSatisfy { abs($0 - $1) < 100 } },
            "start, begin and end of the stall: \(real), should be one of \(expected)"
        )
        #expect(watched.played.all(.bufferBegin).count == 2)
    }

    /// The same over a simulated network: every byte at its computed instant, and every request at that of the real
    /// one, because a few milliseconds without a request are a tenth of a second of media that the outage keeps back.
    private func analytic(
        _ path: String,
        _ configuration: ProbeConfiguration,
        _ watched: Watched,
        outages: [Int64]
    ) async throws -> [Played] {
        let fixtures = try await InstrumentOrigin.Fixtures.make(in: MediaCache.origin)
        let origin = try await Origin.start(media: [.fixtures(fixtures)])
        let transport = try SystemTransport()
        var known: [String: [UInt8]] = [:]
        for path in Set(watched.paths) {
            let request = HTTPRequest(.get, try HTTPURL(origin.url(path)), maxResponseBytes: 10 << 20)
            known[path] = try await transport.send(request).body
        }
        await origin.stop()
        let resources = known
        var results: [Played] = []
        for outage in outages {
            let clock = VirtualClock()
            let network = SimulatedNetwork(
                clock: clock,
                bandwidth: [(0, 2_000_000), (outage, 0), (8_500_000_000, 2_000_000)],
                reaching: Dictionary(watched.requests.map { ("/" + $0.path, $0.start.nanoseconds) }) { first, _ in
                    first
                }
            ) { resources[$0] ?? resources[String($0.dropFirst())] }
            results.append(await playStream("/" + path, over: network, clock, configuration, until: .seconds(14)))
        }
        return results
    }

    @Test(
        "Live streams are followed near the edge",
        arguments: ["live/ts/master.m3u8", "live/fmp4/master.m3u8", "live/dash/number.mpd"]
    )
    func live(path: String) async throws {
        let machine = MachineLoad()
        let watched = try await play(path, isRealTime: true, stopAfter: 9)
        #expect(watched.played.outcome == .stopped, "\(path): \(watched.paths)")
        #expect(!watched.played.actions.contains(.error))
        if machine.allowsJudging("whether a live stream plays without a stall") {
            #expect(watched.played.all(.bufferBegin).count == 1, "\(watched.played.story)")
            #expect(watched.played.actions.contains(.start))
        }
        let segments = watched.paths.filter { !$0.hasSuffix("m3u8") && !$0.hasSuffix("mpd") }
        #expect(Set(segments).count == segments.count, "\(segments)")
    }

    @Test(
        "Subtitles are fetched beside video and audio, and counted",
        arguments: ["vod/subtitles/master.m3u8", "vod/subtitles/vtt.mpd", "vod/subtitles/ttml.mpd"]
    )
    func subtitles(path: String) async throws {
        let watched = try await play(path, ProbeConfiguration(profile: .plain(), subtitles: .language("fr")))
        #expect(watched.played.outcome == .ended, "\(watched.played.story)")
        #expect(watched.played.all(.streamWarning).map { $0.attributes[.warningDescription] ?? "" } == [])
        // A cue for each second.
        let end = try #require(watched.played.first(.end))
        #expect(end.attributes[.countSubtitleCues] == 24 && end.attributes[.subtitles] == "fr")
        let requests = watched.records.filter { $0.kind == .subtitles }
        #expect(requests.count == (path.hasSuffix("mpd") ? 1 : 12) && requests.allSatisfy { $0.url.contains("fr") })
    }

    @Test("Subtitles in fragmented MP4 are read and counted", arguments: ["wvtt", "stpp"])
    func fragmentedSubtitles(coding: String) async throws {
        let path = "vod/subtitles/\(coding).mpd"
        let watched = try await play(path, ProbeConfiguration(profile: .plain(), subtitles: .language("fr")))
        #expect(watched.played.outcome == .ended, "\(watched.played.story)")
        #expect(watched.played.all(.streamWarning).map { $0.attributes[.warningDescription] ?? "" } == [])
        // A cue for each second; TTML counts its documents, one for each segment.
        let end = try #require(watched.played.first(.end))
        #expect(end.attributes[.countSubtitleCues] == (coding == "wvtt" ? 24 : 12))
        #expect(watched.paths.count { $0.hasSuffix("fr-\(coding)/init.mp4") } == 1)
        #expect(watched.records.count { $0.kind == .subtitles } == 12)
    }

    @Test(
        "Subtitles of live streams follow the edge",
        arguments: ["live/subtitles/master.m3u8", "live/subtitles/ttml.mpd"]
    )
    func liveSubtitles(path: String) async throws {
        let machine = MachineLoad()
        let watched = try await play(path, isRealTime: true, stopAfter: 9)
        #expect(watched.played.outcome == .stopped && !watched.played.actions.contains(.error))
        let files = watched.records.filter { $0.kind == .subtitles }.map(\.url)
        #expect(Set(files).count == files.count && files.allSatisfy { $0.contains("/en/") })
        guard machine.allowsJudging("whether live subtitles are in time") else { return }
        #expect(files.count >= 4, "\(watched.paths)")
        #expect(watched.played.all(.streamWarning).map { $0.attributes[.warningDescription] ?? "" } == [])
    }

    @Test(
        "A low-latency playlist is played in parts, with held requests and delta updates, near its edge",
        arguments: [[], [.part, .initialization]] as [Set<LivePolicy.HintedResource>]
    )
    func lowLatencyHLS(hints: Set<LivePolicy.HintedResource>) async throws {
        let machine = MachineLoad()
        var configuration = ProbeConfiguration(profile: .plain(rule: FixedRule(.rung(1))))
        configuration.profile.live = LivePolicy(
            targetLatency: .targetDurations(3),
            usesParts: true,
            preloadedHints: hints
        )
        let watched = try await play("live/ll/master.m3u8", configuration, isRealTime: true, stopAfter: 9)
        #expect(watched.played.outcome == .stopped, "\(watched.paths)")
        #expect(watched.played.all(.streamWarning).map { $0.attributes[.warningDescription] ?? "" } == [])
        let parts = watched.paths.filter { $0.hasSuffix(".m4s") }
        #expect(Set(parts).count == parts.count, "\(parts)")
        // SEGMENT.PART.m4s, in their order.
        let picture = parts.filter { $0.contains("/v1/") && $0.split(separator: ".").count == 3 }
        #expect(picture == picture.sorted { ($0.count, $0) < ($1.count, $1) } && !picture.isEmpty)
        let queries = watched.queries
        #expect(queries.contains { $0.hasPrefix("_HLS_msn=") && $0.contains("&_HLS_part=") })
        #expect(queries.contains { $0.hasSuffix("&_HLS_skip=YES") })
        // Half a second of media is ahead of the playhead when the next part is due.
        guard machine.allowsJudging("how near a low-latency stream is followed", upTo: .milliseconds(100)) else {
            return
        }
        // The origin holds the request of a hinted part until the part exists.
        let held = watched.records.filter {
            $0.kind == .segment && $0.firstByte.map { $0 > .milliseconds(200) } ?? false
        }
        #expect(hints.isEmpty ? held.isEmpty : held.count > 4, "\(held.map(\.url))")
        #expect(watched.played.all(.bufferBegin).count == 1, "\(watched.played.story)")
        let latency = try #require(watched.played.events.compactMap { $0.attributes[.liveLatency] }.last)
        #expect(latency < .milliseconds(2_500) && latency > .milliseconds(500))
    }

    @Test("A live MPD is followed by its patches, and loaded as a whole where patches fail", arguments: [false, true])
    func patches(areMissing: Bool) async throws {
        let machine = MachineLoad()
        var configuration = ProbeConfiguration(profile: .plain())
        configuration.profile.live.usesPatches = true
        let faults = areMissing ? [try FaultRule("404 on live/dash/patch.mpp")] : []
        let watched = try await play(
            "live/dash/patch.mpd",
            configuration,
            faults: faults,
            isRealTime: true,
            stopAfter: 9
        )
        #expect(watched.played.outcome == .stopped && !watched.played.actions.contains(.error), "\(watched.paths)")
        let patches = watched.records.filter { $0.url.hasSuffix("patch.mpp") }
        let whole = watched.records.filter { $0.url.hasSuffix("patch.mpd") }
        #expect(patches.count >= 3 && patches.allSatisfy { $0.kind == .manifest })
        #expect(areMissing ? whole.count >= 3 : whole.count == 1, "\(watched.paths)")
        let warnings = watched.played.all(.streamWarning).compactMap { $0.attributes[.warningCode] }
        #expect(areMissing ? Set(warnings) == ["manifestPatch"] : warnings == [], "\(warnings)")
        let segments = watched.paths.filter { $0.hasSuffix("m4s") }
        #expect(Set(segments).count == segments.count && segments.count > 8, "\(segments)")
        guard machine.allowsJudging("whether a patched live stream plays without a stall") else { return }
        #expect(watched.played.all(.bufferBegin).count == 1, "\(watched.played.story)")
    }

    @Test("A low-latency MPD is played in chunks near its edge")
    func lowLatencyDASH() async throws {
        let machine = MachineLoad()
        let configuration = ProbeConfiguration(profile: .plain(use: .progressive, rule: FixedRule(.rung(1))))
        let watched = try await play("live/ll/low-latency.mpd", configuration, isRealTime: true, stopAfter: 9)
        #expect(watched.played.outcome == .stopped, "\(watched.paths)")
        #expect(watched.played.all(.streamWarning).map { $0.attributes[.warningDescription] ?? "" } == [])
        // Half a second of media is ahead of the playhead when the next part is due.
        guard machine.allowsJudging("how near a low-latency stream is followed", upTo: .milliseconds(100)) else {
            return
        }
        #expect(watched.played.all(.bufferBegin).count == 1, "\(watched.played.story)")
        let latency = try #require(watched.played.events.compactMap { $0.attributes[.liveLatency] }.last)
        #expect(latency < .milliseconds(3_500) && latency > .milliseconds(500))
    }

    @Test("In low latency, dash.js plays chunks, replaces nothing, and stays at the rung that the link allows")
    func lowLatencyOfDashJS() async throws {
        let machine = MachineLoad()
        let configuration = ProbeConfiguration(profile: .dashJS)
        let watched = try await play("live/ll/low-latency.mpd", configuration, isRealTime: true, stopAfter: 9)
        #expect(watched.played.outcome == .stopped, "\(watched.paths)")
        let video = watched.paths.filter { $0.contains("/v") && $0.hasSuffix(".m4s") }
        let numbers = video.compactMap { $0.split(separator: "/").last }
        #expect(Set(numbers).count == numbers.count && numbers.count > 3, "\(video)")
        guard machine.allowsJudging("how dash.js follows a low-latency stream", upTo: .milliseconds(100)) else {
            return
        }
        #expect(video.dropFirst(2).allSatisfy { $0.contains("/v2/") }, "\(video)")
        #expect(watched.played.all(.bufferBegin).count == 1, "\(watched.played.story)")
    }

    @Test(
        "Each failure is reported with its cause",
        arguments: [
            ("404 on vod/ts/master.m3u8", ProbeError.Code.notFound, ProbeError.Phase.manifest),
            ("503 on vod/ts/v0.m3u8", .httpStatus, .playlist), ("reset on vod/ts/v0/0.ts", .connection, .segment),
            ("hang after 1000 on vod/ts/v0/0.ts", .timedOut, .segment),
            ("truncate after 1000 on vod/ts/v0/0.ts", .connection, .segment),
            ("html on vod/ts/v0/0.ts", .wrongContent, .segment),
            ("html on vod/ts/v0.m3u8", .wrongContent, .playlist),
            ("endless on vod/ts/v0.m3u8", .tooLarge, .playlist),
            ("redirect loop on vod/ts/v0/0.ts", .refusedAddress, .segment),
        ]
    )
    func faults(rule: String, code: ProbeError.Code, phase: ProbeError.Phase) async throws {
        // Only requests that hang may reach their timeout.
        let patience: Duration = rule.hasPrefix("hang") ? .seconds(5) : .seconds(900)
        var configuration = ProbeConfiguration(profile: .plain(retries: 1), readTimeout: patience)
        configuration.profile[retry: .segment].stallTimeout = patience
        let watched = try await play(
            "vod/ts/master.m3u8",
            configuration,
            faults: [try FaultRule(rule)],
            isRealTime: true
        )
        guard case .failed(let error) = watched.played.outcome else {
            Issue.record("\(rule): \(watched.played.story)")
            return
        }
        #expect(error.code == code && error.phase == phase, "\(rule): \(error.code) \(error.phase) \(error)")
        #expect(watched.played.actions.last == .error || watched.played.actions.contains(.error))
    }
}
