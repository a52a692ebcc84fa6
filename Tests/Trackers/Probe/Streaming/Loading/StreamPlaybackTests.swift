import Instrument
import InstrumentManifests
import InstrumentTransport
import Testing

@testable import InstrumentProbe

@Suite("Playback of a stream, event by event")
struct StreamPlaybackTests {
    private func playback(
        _ address: String = "http://origin.example/master.m3u8",
        _ profile: PlayerProfile = .plain()
    ) -> StreamPlayback {
        StreamPlayback(
            source: MediaSource(address),
            configuration: ProbeConfiguration(profile: profile),
            randomness: RandomSource(SystemRandomNumberGenerator())
        )
    }

    /// The requests among the commands, by their purpose.
    private func begun(_ playback: inout StreamPlayback) -> [Fetching] {
        playback.fetches.takeCommands().compactMap { if case .fetch(let fetching) = $0 { fetching } else { nil } }
    }

    private func response(_ fetching: Fetching, _ reading: ManifestReading, now: Timestamp) -> StreamEvent {
        let response = ResourceResponse(
            url: fetching.request.url,
            status: 200,
            body: FetchedBytes([1, 2, 3]),
            arrivals: ArrivalLog(),
            timings: HTTPTimings(),
            redirectCount: 0,
            version: "1.1",
            reading: .success(reading)
        )
        return .fetched(number: fetching.number, .success(response))
    }

    @Test("A playback fetches the manifest, the playlist and the first segment in sequence")
    func walk() throws {
        var playback = playback()
        playback.handle(.command(.play), now: Loading.at(0))
        let manifest = begun(&playback)
        #expect(manifest.map(\.purpose) == [.manifest])
        let presentation = try Loading.multivariant([400_000])
        playback.handle(response(manifest[0], .presentation(presentation), now: Loading.at(1)), now: Loading.at(1))
        let playlist = begun(&playback)
        #expect(playlist.map(\.purpose) == [.playlist(presentation.variants[0].main)])
        playback.handle(
            response(playlist[0], .playlist(try Loading.media(0..<3)), now: Loading.at(2)),
            now: Loading.at(2)
        )
        let segment = begun(&playback)
        #expect(segment.map(\.purpose) == [.segment(.main)])
        #expect(segment.first?.request.url.path == "/s0.ts")
        #expect(
            playback.session.outbox.map(\.action)
                == [.mediaRequest, .prepareItem, .manifestLoad, .streamLoad, .bufferBegin]
        )
        #expect(playback.session.progress(at: Loading.instant(2)).duration == .seconds(6))
    }

    /// Low-latency DASH since 1970: segments of two seconds, which are available 1.5 s before they end.
    private static let lowLatencyDASH = """
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" profiles="urn:mpeg:dash:profile:isoff-live:2011" \
        availabilityStartTime="1970-01-01T00:00:00Z" minimumUpdatePeriod="PT10S" minBufferTime="PT2S" \
        timeShiftBufferDepth="PT60S" suggestedPresentationDelay="DELAY"><Period id="0" start="PT0S">\
        <AdaptationSet contentType="video" mimeType="video/mp4"><SegmentTemplate duration="2" startNumber="0" \
        availabilityTimeOffset="1.5" availabilityTimeComplete="false" initialization="$RepresentationID$/i.mp4" \
        media="$RepresentationID$/$Number$.m4s"/>\
        <Representation id="v" bandwidth="400000" codecs="avc1.42c00d"/></AdaptationSet></Period></MPD>
        """

    @Test(
        "Shaka asks for low-latency DASH two segments at once, and before they are available",
        arguments: [
            (true, true, "PT6S", 100.4, [47, 48]), (false, true, "PT6S", 100.4, [47]),
            // The MPD has the second segment from 100.5 s on; Shaka asks for it from 98.5 s on.
            (true, true, "PT0.5S", 100.3, [49, 50]), (true, false, "PT0.5S", 100.3, [49]),
        ] as [(Bool, Bool, String, Double, [Int])]
    )
    func lowLatencyRequests(two: Bool, early: Bool, delay: String, seconds: Double, numbers: [Int]) throws {
        var profile = PlayerProfile.shaka
        var mode = try #require(profile.lowLatency)
        #expect(mode.requestsTwo && mode.requestsUnavailable)
        (mode.requestsTwo, mode.requestsUnavailable) = (two, early)
        profile.lowLatency = mode
        var playback = playback("http://origin.example/live.mpd", profile)
        playback.handle(.command(.play), now: Loading.at(seconds))
        let manifest = try #require(begun(&playback).first)
        let presentation = try Presentation(
            parsing: Array(Self.lowLatencyDASH.replacing("DELAY", with: delay).utf8),
            at: Loading.url("live.mpd"),
            now: Loading.at(seconds).wallTime
        )
        playback.handle(
            response(manifest, .presentation(presentation), now: Loading.at(seconds)),
            now: Loading.at(seconds)
        )
        playback.handle(.alarm, now: Loading.at(seconds + 0.1))
        let media = begun(&playback).map(\.request.url.path).filter { $0.hasSuffix(".m4s") }
        #expect(media == numbers.map { "/v/\($0).m4s" })
    }

    @Test("A playback ends with an error and without a request when its address is not valid HTTP")
    func badAddress() {
        var playback = playback("http://")
        playback.handle(.command(.play), now: Loading.at(0))
        #expect(begun(&playback).isEmpty)
        guard case .failed(let error) = playback.session.outcome else {
            Issue.record("\(playback.session.outbox.map(\.action))")
            return
        }
        #expect(error.code == .refusedAddress)
    }

    @Test("A stop cancels every request, and nothing begins after it")
    func stop() throws {
        var playback = playback()
        playback.handle(.command(.play), now: Loading.at(0))
        let manifest = begun(&playback)
        playback.handle(.command(.stop), now: Loading.at(1))
        guard case .cancel(let cancelled, _)? = playback.fetches.takeCommands().first else {
            Issue.record("the request runs on")
            return
        }
        #expect(cancelled.number == manifest[0].number)
        let late = response(manifest[0], .presentation(try Loading.multivariant([1])), now: Loading.at(2))
        playback.handle(late, now: Loading.at(2))
        #expect(begun(&playback).isEmpty && playback.session.outcome == .stopped)
        #expect(playback.deadline(at: Loading.at(2)) == nil)
    }

    @Test("A playback reports five warnings of each kind")
    func warnings() {
        var playback = playback()
        for _ in 0..<20 {
            playback.apply(.warned(StreamWarning(kind: .frameGap, message: "a", url: nil)), Loading.at(0))
        }
        playback.apply(.warned(StreamWarning(kind: .noKeyframe, message: "b", url: nil)), Loading.at(0))
        #expect(playback.session.outbox.count == 6)
    }
}

@Suite("Parts that a segment needs")
struct SegmentStoreTests {
    @Test("A segment needs its key first, then its initialization section, then itself")
    func order() throws {
        var store = SegmentStore()
        var segment = MediaSegment(sequence: 0, start: 0, duration: 1, url: try Loading.url("s0.m4s"))
        let section = InitializationSegment(url: try Loading.url("init.mp4"))
        let key = try Loading.url("key")
        segment.initialization = section
        segment.encryption = SegmentEncryption(method: .aes128, keyURL: key, initializationVector: [])
        #expect(store.need(of: segment, .audio) == .fetch(.key(.audio), key, nil))
        store.keep(key: [UInt8](repeating: 0, count: 16), at: key)
        #expect(store.need(of: segment, .audio) == .fetch(.initialization(.audio), section.url, nil))
        store.keep([1], of: section, for: .main)
        #expect(store.need(of: segment, .audio) == .fetch(.segment(.audio), segment.url, nil))
    }

    @Test("dash.js asks for a section again after another one and after a seek, unless its cache has it")
    func sectionsAgain() throws {
        let sections = try ["a.mp4", "b.mp4"].map { InitializationSegment(url: try Loading.url($0)) }
        var clock = 0.0
        func asked(_ store: inout SegmentStore, _ order: [Int], lifetime: Duration = .zero) -> [Int] {
            var asked: [Int] = []
            for (second, index) in order.enumerated() {
                clock += 1
                let now = Loading.instant(clock)
                store.enter(sections[index], .main, at: now)
                guard store.bytes(of: sections[index]) == nil else { continue }
                asked.append(second)
                let end = now.advanced(by: lifetime)
                store.keep([1], of: sections[index], for: .main, freshUntil: end)
            }
            return asked
        }
        let order = [0, 0, 1, 1, 0, 0, 1]
        var again = SegmentStore(asksAgain: true)
        #expect(asked(&again, order) == [0, 2, 4, 6])
        again.leave()
        #expect(asked(&again, [1, 1]) == [0])
        var cached = SegmentStore(asksAgain: true)
        // Both are fresh for three seconds: at 4 s the first is not, at 6 s the second is not.
        #expect(asked(&cached, order, lifetime: .seconds(3)) == [0, 2, 4, 6])
        var long = SegmentStore(asksAgain: true)
        #expect(asked(&long, order, lifetime: .seconds(60)) == [0, 2])
        var keeping = SegmentStore()
        #expect(asked(&keeping, order) == [0, 2])
        keeping.leave()
        #expect(asked(&keeping, [1, 1]) == [])
    }

    @Test("An initialization section behind a key for whole segments needs its own key first")
    func encryptedSection() throws {
        var store = SegmentStore()
        var segment = MediaSegment(sequence: 0, start: 0, duration: 1, url: try Loading.url("s0.m4s"))
        let (key, other) = (try Loading.url("key"), try Loading.url("other"))
        func encryption(_ method: SegmentEncryption.Method, _ key: HTTPURL?) -> SegmentEncryption {
            SegmentEncryption(method: method, keyURL: key, initializationVector: [UInt8](repeating: 0, count: 16))
        }
        segment.encryption = encryption(.aes128, key)
        var section = InitializationSegment(url: try Loading.url("init.mp4"), encryption: encryption(.aes128, other))
        segment.initialization = section
        store.keep(key: [UInt8](repeating: 0, count: 16), at: key)
        #expect(store.need(of: segment, .main) == .fetch(.key(.main), other, nil))
        store.keep(key: [UInt8](repeating: 0, count: 16), at: other)
        #expect(store.need(of: segment, .main) == .fetch(.initialization(.main), section.url, nil))
        // Samples are encrypted in segments alone.
        section.encryption = encryption(.samples("SAMPLE-AES"), try Loading.url("third"))
        segment.initialization = section
        #expect(store.need(of: segment, .main) == .fetch(.initialization(.main), section.url, nil))
        section.encryption = encryption(.unsupported("AES-256"), nil)
        segment.initialization = section
        #expect(store.need(of: segment, .main) == .unsupported(encryption: "AES-256"))
    }

    @Test("The key of encrypted samples is needed where the playlist gives its address")
    func keyOfSamples() throws {
        var store = SegmentStore()
        var segment = MediaSegment(sequence: 0, start: 0, duration: 1, url: try Loading.url("s0.ts"))
        let key = try Loading.url("key")
        segment.encryption = SegmentEncryption(method: .samples("SAMPLE-AES"), keyURL: key, initializationVector: [])
        #expect(store.need(of: segment, .main) == .fetch(.key(.main), key, nil))
        store.keep(key: [UInt8](repeating: 0, count: 16), at: key)
        #expect(store.need(of: segment, .main) == .fetch(.segment(.main), segment.url, nil))
        segment.encryption?.keyURL = nil
        #expect(SegmentStore().need(of: segment, .main) == .fetch(.segment(.main), segment.url, nil))
    }

    @Test("A segment with an encryption that the probe cannot remove is refused by the encryption's name")
    func unsupported() throws {
        var segment = MediaSegment(sequence: 0, start: 0, duration: 1, url: try Loading.url("s0.ts"))
        segment.encryption = SegmentEncryption(
            method: .unsupported("SAMPLE-AES"),
            keyURL: nil,
            initializationVector: []
        )
        #expect(SegmentStore().need(of: segment, .main) == .unsupported(encryption: "SAMPLE-AES"))
    }

    @Test("A byte range is cut out of a file that was sent whole, and refused where the file is too short")
    func ranges() throws {
        var response = ResourceResponse(
            url: try Loading.url("a"),
            status: 200,
            body: FetchedBytes([0, 1, 2, 3]),
            arrivals: ArrivalLog(),
            timings: HTTPTimings(),
            redirectCount: 0,
            version: "1.1"
        )
        #expect(try response.part(ByteRange(offset: 1, length: 2)).array == [1, 2])
        #expect(try response.part(ByteRange(offset: 2, length: nil)).array == [2, 3])
        #expect(try response.part(nil).array == [0, 1, 2, 3])
        for (offset, length) in [(Int64(3), Int64(2)), (4, 1), (-1, 2), (2, .max)] {
            #expect(throws: ResourceFailure.self) { try response.part(ByteRange(offset: offset, length: length)) }
        }
        response.status = 206
        #expect(try response.part(ByteRange(offset: 100, length: 4)).array == [0, 1, 2, 3])
    }
}
