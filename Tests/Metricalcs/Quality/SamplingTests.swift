import Foundation
import Instrument
import InstrumentHTTP
import InstrumentQuality
import InstrumentSampling
import InstrumentTestKit
import LoopbackServers
import Testing

@Suite("Sampling of sessions")
struct SessionSamplingTests {
    @Test(
        "One in N keeps a share of 1/N within four standard deviations, and weighs each by N",
        arguments: [2, 3, 10, 100]
    )
    func share(count: Int) {
        let sampling = SessionSampling(oneIn: count)
        let weights = (0..<20_000).compactMap { sampling.weight(of: "session-\($0)") }
        #expect(weights.allSatisfy { $0 == count })
        let expected = 20_000.0 / Double(count)
        let deviation = (expected * (1 - 1 / Double(count))).squareRoot()
        #expect(abs(Double(weights.count) - expected) < 4 * deviation)
    }

    @Test("A session that is recorded at one in 100 is recorded at one in 10, 2 and 1")
    func nesting() {
        for number in 0..<5000 where SessionSampling(oneIn: 100).weight(of: "\(number)") != nil {
            for count in [1, 2, 10] { #expect(SessionSampling(oneIn: count).weight(of: "\(number)") == count) }
        }
        #expect(SessionSampling.none.weight(of: "a") == nil)
        #expect(SessionSampling(oneIn: -5) == .none)
    }

    /// Python: int.from_bytes(hashlib.sha256(b"a").digest()[:8], "big") = 0xca978112ca1bbdca: 0.7913… of 2^64.
    @Test("The choice is that of the documented hash")
    func hash() {
        #expect(SessionSampling(oneIn: 1).weight(of: "a") == 1)
        #expect(SessionSampling(oneIn: 2).weight(of: "a") == nil)
        // "c": 0x2e7d2c03a9507ae2, 0.1816… of 2^64: below 1/5, above 1/6.
        #expect(SessionSampling(oneIn: 5).weight(of: "c") == 5)
        #expect(SessionSampling(oneIn: 6).weight(of: "c") == nil)
    }

    @Test(
        "A hub records whole sessions with their ads, and rejects every event of the others",
        arguments: [1, 2, 3] as [UInt64]
    )
    func wholeSessions(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let settings = SamplingSettings(SessionSampling(oneIn: 3))
        var (all, kept) = (0, 0)
        for device in 0..<30 {
            var viewing = Viewing("d\(device)", hub: SamplingHub(AdsHub(), settings))
            var plain = Viewing("d\(device)", hub: AdsHub())
            for _ in 0..<200 {
                let isAd = Int.random(in: 0..<5, using: &generator) == 0
                let action =
                    (isAd ? RandomSessions.adActions : RandomSessions.actions + RandomSessions.endings)
                    .randomElement(using: &generator) ?? .ping
                let tracker = isAd ? Viewing.ads : Viewing.content
                viewing.add(1000, action, from: tracker)
                plain.add(1000, action, from: tracker)
                // A change in the middle of a session does not divide it.
                settings.current = SessionSampling(oneIn: [2, 3, 4].randomElement(using: &generator) ?? 3)
            }
            let recorded = sessions(of: viewing.events, recording: .sums)
            let whole = sessions(of: plain.events, recording: .sums)
            all += whole.count
            kept += recorded.count
            for session in recorded {
                #expect(session.weight > 1)
                guard let match = whole.first(where: { $0.begin == session.begin }) else {
                    Issue.record("a session that the plain hub does not have")
                    continue
                }
                #expect(match.times == session.times)
                #expect(match.interruptions == session.interruptions)
                #expect(match.playbackId == session.playbackId && match.end == session.end)
            }
        }
        #expect(kept > all / 6 && kept < all / 2)
    }

    @Test("Events before the first playback are recorded, and a sampling of all adds no weight")
    func noSession() {
        var none = Viewing(hub: SamplingHub(CoreHub(), SamplingSettings(.none)))
        for action: Action in [.trackerInit, .mediaRequest, .start, .end, .ping] { none.add(0, action) }
        #expect(none.events.map(\.action) == [.trackerInit])
        var all = Viewing(hub: SamplingHub(CoreHub(), SamplingSettings(.all)))
        for action: Action in [.mediaRequest, .start, .end] { all.add(0, action) }
        #expect(all.events.count == 3)
        #expect(all.events.allSatisfy { $0[.sampleWeight] == nil })
    }
}

@Suite("Remote sampling")
struct RemoteSamplingTests {
    private let key = SamplingKey(Array("0123456789abcdef".utf8))
    private static let document =
        #"{"version": 2, "default": {"oneIn": 10}, "apps": {"tv": {"oneIn": 100}}, "later": [1]}"#

    @Test("A configuration gives each app its sampling, and others the default")
    func reading() throws {
        let configuration = try SamplingConfiguration(reading: Array(Self.document.utf8))
        #expect(configuration.sampling(of: "tv").oneIn == 100)
        #expect(configuration.sampling(of: "phone").oneIn == 10)
        #expect(configuration.version == 2)
        #expect(try SamplingConfiguration(reading: configuration.bytes) == configuration)
        #expect(try SamplingConfiguration(reading: Array(#"{"version": 0}"#.utf8)).sampling(of: "x") == .all)
    }

    @Test(
        "A damaged configuration says what is wrong",
        arguments: [
            ("", "not valid JSON"), ("[]", "JSON object"), ("{}", "`version`"), (#"{"version": -1}"#, "`version`"),
            (#"{"version": 1, "default": 5}"#, "`default.oneIn`"),
            (#"{"version": 1, "default": {"oneIn": 1.5}}"#, "`default.oneIn`"),
            (#"{"version": 1, "apps": {"tv": {"oneIn": 1000000001}}}"#, "`apps.tv.oneIn`"),
            (#"{"version": 1, "apps": []}"#, "`apps`"), (#"{"payload": 1}"#, "`payload`"),
        ]
    )
    func damaged(text: String, reason: String) {
        let error = #expect(throws: SamplingError.self) { try SamplingConfiguration(reading: Array(text.utf8)) }
        #expect(error?.code == .invalid)
        #expect(error?.message.contains(reason) == true)
    }

    /// Python: hmac.new(b"0123456789abcdef", b'{"version":1}', "sha256").hexdigest()
    @Test("Signatures are HMAC-SHA256")
    func signature() throws {
        let key = try #require(key)
        let text =
            #"{"payload": "{\"version\":1}", "signature": "4927016c23eca23b49a85f560c3a4fb312eb1c2c8589a2a4ace937e40309a84a"}"#
        #expect(throws: Never.self) { try SamplingConfiguration(reading: Array(text.utf8), key: key) }
        let signed = SamplingConfiguration(version: 7, fallback: SessionSampling(oneIn: 3)).signed(with: key)
        #expect(try SamplingConfiguration(reading: signed, key: key).fallback.oneIn == 3)
        var longKey: [UInt8] = []
        for number in 0..<100 { longKey.append(UInt8(number)) }
        let long = try #require(SamplingKey(longKey))
        #expect(throws: Never.self) {
            try SamplingConfiguration(reading: SamplingConfiguration(version: 1).signed(with: long), key: long)
        }
        #expect(SamplingKey(Array("too short".utf8)) == nil)
        #expect("\(key)" == "sampling key")
        var shown = ""
        dump(key, to: &shown)
        #expect(!shown.contains("48"))
    }

    @Test("Each changed byte of a signed document is found")
    func forged() throws {
        let key = try #require(key)
        let signed = SamplingConfiguration(version: 7, fallback: SessionSampling(oneIn: 3)).signed(with: key)
        let original = try SamplingConfiguration(reading: signed, key: key)
        for index in signed.indices {
            var changed = signed
            changed[index] ^= 1
            // The case of a hexadecimal digit is no change of the signature.
            if let found = try? SamplingConfiguration(reading: changed, key: key) { #expect(found == original) }
        }
        let other = try #require(SamplingKey(Array("0123456789abcdeg".utf8)))
        #expect(throws: SamplingError.self) { try SamplingConfiguration(reading: signed, key: other) }
        let plain = #expect(throws: SamplingError.self) {
            try SamplingConfiguration(reading: Array(Self.document.utf8), key: key)
        }
        #expect(plain?.code == .unsigned)
    }

    @Test("A bad, unreachable, unsigned or older document leaves the last good configuration in force")
    func lastGood() async throws {
        let key = try #require(key)
        let transport = ScriptedTransport()
        let url = try HTTPURL("http://config.example/sampling.json")
        let remote = RemoteSampling(.url(url), app: "tv", key: key, settings: SamplingSettings(), transport: transport)
        #expect(remote.settings.current == .all)
        let good = SamplingConfiguration(version: 5, apps: ["tv": SessionSampling(oneIn: 100)]).signed(with: key)
        transport.answer(.success((200, good)))
        try await remote.refresh()
        #expect(remote.settings.current.oneIn == 100)

        let older = SamplingConfiguration(version: 4, fallback: .none).signed(with: key)
        let answers: [(Result<(Int, [UInt8]), HTTPError>, SamplingError.Code)] = [
            (.success((200, Array("{".utf8))), .invalid), (.success((200, older)), .outdated),
            (.success((200, SamplingConfiguration(version: 9, fallback: .none).bytes)), .unsigned),
            (.success((500, good)), .unreachable), (.failure(HTTPError(.timedOut, "no answer")), .unreachable),
        ]
        for (answer, code) in answers {
            transport.answer(answer)
            let error = await #expect(throws: SamplingError.self) { try await remote.refresh() }
            #expect(error?.code == code)
            #expect(remote.settings.current.oneIn == 100)
            #expect(remote.configuration?.version == 5)
        }
        transport.answer(.success((200, SamplingConfiguration(version: 6, fallback: .none).signed(with: key))))
        try await remote.refresh()
        #expect(remote.settings.current == .none)
    }

    @Test("An unsigned document is accepted from a listed host over https only")
    func trust() async throws {
        let transport = ScriptedTransport()
        let addresses = [
            ("https://config.example/s", true), ("http://config.example/s", false), ("https://other.example/s", false),
        ]
        for (address, isTrusted) in addresses {
            transport.answer(.success((200, Array(Self.document.utf8))))
            let remote = RemoteSampling(
                .url(try HTTPURL(address)),
                app: "tv",
                trustedHosts: ["config.example"],
                settings: SamplingSettings(),
                transport: transport
            )
            if isTrusted {
                try await remote.refresh()
            } else {
                let error = await #expect(throws: SamplingError.self) { try await remote.refresh() }
                #expect(error?.code == .untrusted)
            }
            #expect(remote.settings.current.oneIn == (isTrusted ? 100 : 1))
        }
    }

    @Test("A file is read again with each refresh; a missing one leaves the last good configuration in force")
    func file() async throws {
        let folder = try Scratch()
        let path = folder.file("sampling.json")
        let remote = RemoteSampling(.file(path), app: "phone", settings: SamplingSettings())
        await #expect(throws: SamplingError.self) { try await remote.refresh() }
        try Data(Self.document.utf8).write(to: URL(filePath: path))
        try await remote.refresh()
        #expect(remote.settings.current.oneIn == 10)
        try Data("{".utf8).write(to: URL(filePath: path))
        await #expect(throws: SamplingError.self) { try await remote.refresh() }
        #expect(remote.settings.current.oneIn == 10)
    }

    @Test("run refreshes after each interval, reports errors, and ends when its task is cancelled")
    func updates() async throws {
        let transport = ScriptedTransport()
        let clock = VirtualClock()
        let remote = RemoteSampling(
            .url(try HTTPURL("https://config.example/s")),
            app: "tv",
            trustedHosts: ["config.example"],
            settings: SamplingSettings(),
            transport: transport
        )
        transport.answer(.failure(HTTPError(.timedOut, "no answer")))
        let (errors, said) = AsyncStream.makeStream(of: SamplingError.Code.self)
        let task = Task { await remote.run(every: .seconds(60), clock: clock) { said.yield($0.code) } }
        var failures = errors.makeAsyncIterator()
        #expect(await failures.next() == .unreachable)
        await clock.waitUntilPending()
        transport.answer(.failure(HTTPError(.connection, "refused")))
        clock.advance(by: .seconds(60))
        #expect(await failures.next() == .unreachable)
        task.cancel()
        await task.value
        #expect(transport.requestCount == 2)
    }
}

/// Responds to each request with the values of a test.
private final class ScriptedTransport: HTTPTransport {
    private let state = Lock<(answer: Result<(Int, [UInt8]), HTTPError>, count: Int)>((.success((404, [])), 0))

    func answer(_ answer: Result<(Int, [UInt8]), HTTPError>) { state.withLock { $0.answer = answer } }

    var requestCount: Int { state.withLock { $0.count } }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let answer = state.withLock { state in
            state.count += 1
            return state.answer
        }
        let (status, body) = try answer.get()
        return HTTPResponse(status: status, body: body, url: request.url)
    }
}
