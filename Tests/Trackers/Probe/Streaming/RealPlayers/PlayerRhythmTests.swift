import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

/// Details of the players' loading, over the test origin's media and a computed link.
@Suite("Loading as real players do", .ownThread)
struct PlayerRhythmTests {
    private func play(
        _ path: String,
        _ profile: PlayerProfile,
        over schedule: String = "6000k",
        seconds: Int = 30,
        script: (VirtualClock, Probe) -> Void = { _, _ in }
    ) async throws -> (Played, [OriginNetwork.Request]) {
        let clock = VirtualClock()
        let network = try OriginNetwork(try await LoopedOrigin(), over: schedule, clock: clock)
        let configuration = ProbeConfiguration(profile: profile)
        let limit = Duration.seconds(seconds)
        let played = await playStream(path, over: network, clock, configuration, until: limit, script: script)
        return (played, network.requests)
    }

    private func milliseconds(_ requests: [OriginNetwork.Request], _ folder: String) -> [Int64] {
        requests.filter { $0.path.contains(folder) && !$0.path.hasSuffix("init.mp4") }.map { $0.instant / 1_000_000 }
    }

    @Test("Shaka looks at a full buffer every 0.5 s")
    func fullBuffer() async throws {
        // lib/media/streaming_engine.js:1666. The looks begin when the segment before has come.
        let (_, requests) = try await play("/dash/number.mpd", .shaka)
        let video = requests.filter { $0.path.contains("/v2/") && $0.instant > 15_000_000_000 }
        #expect(video.count > 5)
        for (earlier, later) in zip(video, video.dropFirst()) {
            let pause = (later.instant - (try #require(earlier.answeredAt))) / 1_000_000
            // With more than two seconds buffered, alarms may be ten milliseconds late.
            #expect(pause >= 500 && pause % 500 <= 40, "\(pause) ms before \(later.path)")
        }
    }

    @Test("In Shaka, a track that is a segment ahead of the other looks again after a second")
    func aheadOfTheOther() async throws {
        // lib/media/streaming_engine.js:1768. The first segment of audio comes long before that of video.
        let (_, requests) = try await play("/dash/number.mpd", .shaka, over: "900k", seconds: 10)
        let audio = milliseconds(requests, "/en/")
        let first = try #require(audio.first)
        // 17 kB beside video take 0.3 s; the second segment has to wait for the first of video, which comes at 1.9 s.
        let second = try #require(audio.dropFirst().first)
        #expect((2000...2400).contains(second - first), "\(audio)")
        var eager = PlayerProfile.shaka
        eager.bufferCheck.leadInterval = .zero
        let (_, others) = try await play("/dash/number.mpd", eager, over: "900k", seconds: 10)
        let earlier = try #require(milliseconds(others, "/en/").dropFirst().first)
        #expect((1800..<2000).contains(earlier) && earlier < second, "\(earlier), \(second)")
    }

    @Test("hls.js requests the playlist of the audio together with the video's, and not a round trip later")
    func audioPlaylist() async throws {
        // src/controller/audio-track-controller.ts, `onLevelLoading`.
        var late = PlayerProfile.hlsJS
        late.requestsPlaylistsTogether = false
        for (profile, isTogether) in [(PlayerProfile.hlsJS, true), (late, false)] {
            let (_, requests) = try await play("/fmp4/master.m3u8", profile, seconds: 5)
            let video = try #require(requests.first { $0.path.hasSuffix("/v0.m3u8") })
            let audio = requests.filter { $0.path.hasSuffix("/en.m3u8") }
            #expect(audio.count == 1)
            let processed = try #require(video.answeredAt) + late.processing.mediaPlaylist.nanoseconds
            #expect(audio.first?.instant == (isTogether ? video.instant : processed))
        }
    }

    @Test("Shaka reads the first segment of an HLS stream for its captions before it plays, and nothing beside it")
    func captions() async throws {
        // lib/hls/hls_parser.js:2892; only lib/media/streaming_engine.js fetches audio, and measures.
        let (_, requests) = try await play("/fmp4/master.m3u8", .shaka, seconds: 5)
        let first = try #require(requests.first { $0.path.hasSuffix("/v1/0.m4s") })
        let audio = try #require(requests.first { $0.path.hasSuffix("/en/init.mp4") })
        #expect(audio.instant >= (try #require(first.answeredAt)))
        // An MPD declares its captions: the first segment of 6 Mbit/s is given up as soon as there is an estimate.
        let (_, others) = try await play("/dash/number.mpd", .shaka, seconds: 5)
        let aborted = try #require(others.first { $0.path.hasSuffix("/v1/0.m4s") }?.abortedAt)
        #expect(try #require(others.first { $0.path.hasSuffix("/en/0.m4s") }).instant < aborted)
    }

    @Test(
        "In live, Shaka reads the middle of the window for its captions, and plays it from memory if it begins there",
        arguments: [
            (window: 6, order: [26, 27, 28, 29]), (5, [27, 26, 28, 29]), (4, [27, 26, 28]), (12, [23, 26, 27]),
        ]
    )
    func liveCaptions(window: Int, order: [Int]) async throws {
        // lib/hls/hls_parser.js:5200. Segments of two seconds: 29 is the last one, 26 the first one to play.
        let (played, requests) = try await play("/live\(window)/fmp4/master.m3u8", .shaka, over: "2500k", seconds: 8)
        let media = requests.filter { $0.path.contains("/v") && $0.path.hasSuffix(".m4s") }
        // A segment whose request is given up is requested again from a lower rung.
        let whole = media.filter { $0.abortedAt == nil }.compactMap {
            $0.path.split(separator: "/").last.map(String.init)
        }
        #expect(whole.starts(with: order.map { "\($0).m4s" }), "\(whole)")
        let first = try #require(media.first)
        let answer = try #require(first.answeredAt)
        // Only after this answer, audio and the segments to play are requested.
        #expect(first.path.contains("/v1/") && media.dropFirst().allSatisfy { $0.instant >= answer })
        #expect(try #require(requests.first { $0.path.hasSuffix("/en/init.mp4") }).instant >= answer)
        #expect(try #require(played.time(.start)) * 1_000_000 > answer)
        // The playlist of the audio is there by then.
        #expect(try #require(requests.first { $0.path.hasSuffix("/en.m3u8") }).instant < answer)
    }

    @Test(
        "After a seek, Shaka begins with the segment that plays two seconds before",
        arguments: [(41.0, 19), (42, 20)]
    )
    func lookup(target: Double, first: Int) async throws {
        // lib/media/streaming_engine.js:1917. Segments of two seconds; 4 s after the start, twelve at most are there.
        let (_, requests) = try await play("/dash/number.mpd", .shaka, seconds: 8) { clock, probe in
            clock.at(4000) { probe.seek(to: .seconds(target)) }
        }
        for track in ["/v2/", "/en/"] {
            let media = requests.filter { $0.path.contains(track) && $0.path.hasSuffix(".m4s") }
            let numbers = media.compactMap { $0.path.dropLast(4).split(separator: "/").last.flatMap { Int($0) } }
            #expect(numbers.filter { $0 > 12 }.starts(with: [first, first + 1]), "\(numbers)")
        }
    }

    @Test(
        "In live, Shaka waits with audio while it looks for the first segment of the video, and starts with the second"
    )
    func liveStart() async throws {
        // As in Chromium (`--player shaka=FILE --stream live/fmp4/master.m3u8 --schedule 2500k`): start after 1.64 s.
        let (played, requests) = try await play("/live5/fmp4/master.m3u8", .shaka, over: "2500k", seconds: 8)
        #expect(played.all(.bufferBegin).count == 1)
        let second = try #require(requests.first { $0.path.hasSuffix("/v1/26.m4s") }?.answeredAt) / 1_000_000
        #expect((0...40).contains(try #require(played.time(.start)) - second), "\(played.story), \(second)")
        // The next audio is fetched at once: its track needs media at 54 s, and so does that of the video.
        let audio = requests.filter { $0.path.contains("/en/2") }
        #expect(audio.count > 3 && audio.prefix(3).allSatisfy { $0.instant / 1_000_000 < second })
    }

    /// The segments of a live stream's video, from the first that did not exist when the player was ready for it, and
    /// the time since the one before had come, in milliseconds.
    private func waits(_ profile: PlayerProfile) async throws -> [(path: String, wait: Int64)] {
        let (played, requests) = try await play("/live6/fmp4/master.m3u8", profile, seconds: 30)
        #expect(played.all(.bufferBegin).count == 1)
        let media = requests.filter { $0.path.contains("/v") && $0.path.hasSuffix(".m4s") }
        return try zip(media, media.dropFirst()).dropFirst(3).map {
            ($1.path, ($1.instant - (try #require($0.answeredAt))) / 1_000_000)
        }
    }

    @Test("A player finds the next live segment with its next look, or as soon as a playlist lists it")
    func search() async throws {
        var profile = PlayerProfile.plain()
        for wait in try await waits(profile) { #expect((1000...2300).contains(wait.wait), "\(wait)") }
        profile.live.searchIntervals = [.duration(.seconds(5)), .duration(.milliseconds(700))]
        for wait in try await waits(profile) {
            #expect(wait.wait >= 700 && wait.wait % 700 <= 40, "\(wait)")
        }
        // Half of a target duration.
        profile.live.searchIntervals = [.duration(.seconds(5)), .targetDurations(0.5)]
        for wait in try await waits(profile) {
            #expect(wait.wait >= 1000 && wait.wait % 1000 <= 40, "\(wait)")
        }
    }

    /// Takes the lowest rung while less than a level is buffered.
    private struct Cautious: AdaptationRule {
        var level: Duration

        mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
            AdaptationDecision(rung: context.bufferLevel < level ? 0 : 2)
        }
    }

    @Test(
        "The choice for a segment that does not exist yet is made when the player finds it",
        arguments: [[], [.duration(.seconds(1))]] as [[LivePolicy.Distance]]
    )
    func lateChoice(intervals: [LivePolicy.Distance]) async throws {
        // Three segments of two seconds are buffered when the track begins to wait, and less when a segment comes.
        var profile = PlayerProfile.plain(rule: Cautious(level: .milliseconds(4300)))
        profile.live.searchIntervals = intervals
        let found = try await waits(profile)
        #expect(found.count > 8 && found.allSatisfy { $0.path.contains("/v0/") }, "\(found)")
    }

    @Test("The first picture of hls.js comes 60 ms after its first media is appended")
    func decodeDelay() async throws {
        // Transport streams: 65 ms until the worker has read the segment. With separate audio, see `firstAudio`.
        let (delayed, requests) = try await play("/ts/master.m3u8", .hlsJS, seconds: 5)
        let first = try #require(requests.first { $0.path.hasSuffix("/0.ts") }?.answeredAt)
        #expect(try #require(delayed.time(.start)) - first / 1_000_000 == 125)
    }

    @Test(
        "The first audio of hls.js waits for its look at the pictures, every 100 ms, and the video for the audio",
        arguments: ["6000k", "2650k latency 150ms", "6000k latency 100ms", "1200k", "400k"]
    )
    func firstAudio(schedule: String) async throws {
        // src/controller/audio-stream-controller.ts, `onInitPtsFound`; src/controller/buffer-controller.ts.
        let (played, requests) = try await play("/fmp4/master.m3u8", .hlsJS, over: schedule, seconds: 5)
        let playlist = try #require(requests.first { $0.path.hasSuffix("/v0.m3u8") }).instant
        func answered(_ folder: String) throws -> Int64 {
            try #require(requests.first { $0.path.hasSuffix("/\(folder)/0.m4s") }?.answeredAt)
        }
        let (video, audio) = (try answered("v0"), try answered("en"))
        #expect(audio < video)
        // The worker starts with the audio, and needs at least 5 ms for the video.
        let read = max(audio + 65_000_000, video + 5_000_000)
        let look = playlist + ((read - playlist) / 100_000_000 + 1) * 100_000_000
        let appended = look + 10_000_000
        let next = requests.filter { $0.instant > video }
        #expect(next.first?.instant == appended, "\(schedule)")
        #expect(next.first { $0.path.hasSuffix("/en/1.m4s") }?.instant == appended, "\(schedule)")
        #expect(try #require(played.time(.start)) == (appended + 60_000_000) / 1_000_000)
    }

    /// Records the downloads that the rule is asked about, and the samples that it decides with.
    private struct Witness: AdaptationRule {
        final class Record: Sendable {
            let downloads = Lock([SegmentDownload]())
            let samples = Lock([ThroughputSample]())
        }

        var record = Record()

        static func == (left: Witness, right: Witness) -> Bool { left.record === right.record }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(record)) }

        mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
            record.samples.withLock { $0 = Array(context.throughput.samples) }
            return AdaptationDecision(rung: 2)
        }

        mutating func abandonment(of download: SegmentDownload, in context: AdaptationContext) -> Int? {
            record.downloads.withLock { $0.append(download) }
            return nil
        }
    }

    @Test("A rule knows the size that the server announced while the segment comes, and before its first byte none")
    func announcedSize() async throws {
        // hls.js, src/utils/xhr-loader.ts:239; dash.js, src/streaming/net/HTTPLoader.js:179.
        let witness = Witness()
        var profile = PlayerProfile.plain(rule: witness)
        profile.start = .highest
        _ = try await play("/ts/master.m3u8", profile, over: "900k", seconds: 12)
        let downloads = witness.record.downloads.withLock { $0 }
        #expect(downloads.count > 20)
        // Two seconds of 2,500 kbit/s in whole packets.
        #expect(downloads.allSatisfy { $0.receivedBytes == 0 || $0.totalBytes == 625_100 })
        #expect(downloads.contains { $0.receivedBytes > 0 })
    }

    @Test("dash.js aborts its first segment when 500 kbit/s are too slow for it, and counts what arrived")
    func abortedSample() async throws {
        // src/streaming/net/XHRLoader.js:91 leaves `onabort`, which stores the request
        // (src/streaming/net/HTTPLoader.js:252).
        #expect((PlayerProfile.dashJS.sampling as? DownloadSampling)?.includesAbandoned == true)
        let (_, requests) = try await play("/dash/number.mpd", .dashJS, over: "500k", seconds: 20)
        #expect(requests.contains { $0.path == "/dash/v1/0.m4s" && $0.abortedAt != nil })
    }

    @Test("hls.js works on its first fragment for 65 ms before it requests the next one")
    func firstProcessing() async throws {
        // src/controller/abr-controller.ts:532: the sample ends with the parsing of the fragment.
        let (_, requests) = try await play("/ts/master.m3u8", .hlsJS, seconds: 5)
        let media = requests.filter { $0.path.hasSuffix(".ts") }
        let pauses = try zip(media, media.dropFirst()).map { ($1.instant - (try #require($0.answeredAt))) / 1_000_000 }
        // The second fragment has another rung, whose playlist comes first. Those of 625 kB take 4.8 + 5.6 ms.
        #expect((70..<80).contains(try #require(pauses.first)), "\(pauses)")
        #expect(pauses.count > 5 && pauses.dropFirst().dropFirst().allSatisfy { $0 == 10 }, "\(pauses)")
    }

    @Test("A sample includes what the player counts of its work on the segment, which grows with the bytes")
    func sampledWork() async throws {
        func transfers(_ sampled: SampledWork, _ path: String) async throws -> [Duration] {
            let witness = Witness()
            var profile = PlayerProfile.plain(rule: witness)
            profile.processing = ProcessingTimes(sampled: sampled)
            _ = try await play(path, profile, over: "6000k", seconds: 8)
            return witness.record.samples.withLock { $0.map(\.transferTime) }
        }
        var sampled = SampledWork()
        sampled.transmuxedSegment = SegmentWork(.milliseconds(10), perMegabyte: .milliseconds(100))
        let work = try await transfers(sampled, "/ts/v2.m3u8")
        let none = try await transfers(SampledWork(), "/ts/v2.m3u8")
        #expect(none.count > 3)
        for (with, without) in zip(work, none) {
            let added = (with - without).nanoseconds - 72_510_000
            #expect(abs(added) < 1000, "\(with) \(without)")
        }
    }

    @Test("A player works on an initialization section before it requests the segment that waited for it")
    func initializationWork() async throws {
        var profile = PlayerProfile.plain()
        profile.initializationLoading = .ofEachRendition
        profile.processing = ProcessingTimes(initialization: .milliseconds(15))
        let (_, requests) = try await play("/dash/number.mpd", profile, seconds: 5)
        let section = try #require(requests.first { $0.path.hasPrefix("/dash/v") && $0.path.hasSuffix("init.mp4") })
        let segment = try #require(requests.first { $0.path.hasPrefix("/dash/v") && $0.path.hasSuffix(".m4s") })
        #expect((segment.instant - (try #require(section.answeredAt))) / 1_000_000 == 15)
    }

    @Test("A player of a web page works on what has come before it requests more")
    func processing() async throws {
        var profile = PlayerProfile.plain()
        profile.processing = ProcessingTimes(
            presentation: .milliseconds(70),
            multivariantPlaylist: .milliseconds(50),
            mediaPlaylist: .milliseconds(30),
            fragment: SegmentWork(.milliseconds(20)),
            transmuxedSegment: SegmentWork(.milliseconds(10))
        )
        for (path, manifest, playlist, segment) in [
            ("/ts/master.m3u8", Int64(50), Int64?(30), Int64(10)), ("/fmp4/master.m3u8", 50, 30, 20),
            ("/ts/v0.m3u8", 30, nil, 10), ("/dash/number.mpd", 70, nil, 20),
        ] {
            let (_, requests) = try await play(path, profile, seconds: 10)
            let first = try #require(requests.first)
            let second = try #require(requests.dropFirst().first)
            #expect((second.instant - (try #require(first.answeredAt))) / 1_000_000 == manifest, "\(path)")
            if let playlist {
                let media = try #require(requests.dropFirst(2).first { !$0.path.hasSuffix("m3u8") })
                #expect((media.instant - (try #require(second.answeredAt))) / 1_000_000 == playlist, "\(path)")
            }
            let video = requests.filter { request in
                request.path.contains("/v") && [".ts", ".m4s"].contains { request.path.hasSuffix($0) }
            }
            let pauses = try zip(video, video.dropFirst()).map { earlier, later in
                (later.instant - (try #require(earlier.answeredAt))) / 1_000_000
            }
            // Until the buffer is full.
            #expect(pauses.count > 1 && pauses.prefix(2).allSatisfy { $0 == segment }, "\(path): \(pauses)")
        }
    }
}
