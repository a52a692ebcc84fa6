import Foundation
import Instrument
import InstrumentHTTP
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentProbe

/// Licence requests over the real transport to a server on the loopback address.
@Suite("Licence servers", .ownThread, .timeLimit(.minutes(30)))
struct LicenceServerTests {
    private static let key =
        "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://asset-7\",KEYFORMAT=\"com.apple.streamingkeydelivery\"\n"
    private static let granted = [TestServer.Step.respond("200 OK", Array("licence".utf8))]

    private struct Played {
        var outcome: ProbeOutcome?
        var requests: [TestServer.Received]
        var records: [RequestRecord]
        /// From the first request to the start of playback; nil if it did not start.
        var startTime: Duration?

        var licences: [TestServer.Received] { requests.filter { $0.head.hasPrefix("POST ") } }
    }

    /// Plays encrypted segments, in real time until playback has started or failed.
    private func play(
        _ folder: Result<String, FixtureError> = Fixtures.hlsTS,
        key: String = key,
        retries: Int = 0,
        patience: Duration = .seconds(1800),
        licence: @escaping @Sendable (Int) -> [TestServer.Step]
    ) async throws -> Played {
        let folder = try folder.get()
        let text = String(decoding: try Fixtures.data(folder + "/media.m3u8"), as: UTF8.self)
        let first = try #require(text.range(of: "#EXTINF"))
        let playlist = Array(text.replacingCharacters(in: first, with: key + "#EXTINF").utf8)
        let count = Lock(0)
        let server = try TestServer { request in
            if request.head.hasPrefix("POST ") {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return licence(number)
            }
            if request.target == "/media.m3u8" { return [.respond("200 OK", playlist)] }
            let file = try? Fixtures.data(folder + request.target)
            return [file.map { .respond("200 OK", [UInt8]($0)) } ?? .respond("404 Not Found")]
        }
        var configuration = ProbeConfiguration(
            profile: .plain(retries: retries),
            licenceURL: try HTTPURL(server.url("/licence?token=secret")),
            readTimeout: .seconds(1800)
        )
        configuration.profile[retry: .segment].stallTimeout = .seconds(1800)
        configuration.profile[retry: .licence] = RetryPolicy(
            maximumRetries: retries,
            backoff: .constant(.zero),
            firstByteTimeout: patience
        )
        let probe = Probe(MediaSource(server.url("/media.m3u8")), configuration: configuration)
        let records = Lock([RequestRecord]())
        probe.report(requestsTo: { record in records.withLock { $0.append(record) } })
        let clock = SystemClock()
        let begun = clock.now
        let started = Lock<Duration?>(nil)
        probe.report { signal in
            guard signal.action == .start else { return }
            started.withLock { $0 = begun.duration(to: clock.now) }
            probe.stop()
        }
        probe.play()
        let outcome = await probe.waitUntilFinished()
        return Played(
            outcome: outcome,
            requests: server.requests,
            records: records.withLock { $0 },
            startTime: started.withLock { $0 }
        )
    }

    @Test("The licence of a transport stream is a POST request with the identifier of the content")
    func transportStream() async throws {
        let played = try await play { _ in Self.granted }
        #expect(played.outcome == .stopped && played.startTime != nil, "\(String(describing: played.outcome))")
        let request = try #require(played.licences.first)
        #expect(played.licences.count == 1 && request.target == "/licence?token=secret")
        #expect(String(decoding: request.body, as: UTF8.self) == "skd://asset-7")
        #expect(request.header("Content-Type") == "application/octet-stream")
        #expect(request.header("Content-Length") == "13")
        let record = try #require(played.records.first { $0.kind == .licence })
        #expect(record.status == 200 && record.byteCount == 7 && !record.url.contains("secret"))
    }

    @Test(
        "The body is the data of the key, decoded, else nothing",
        arguments: [
            ("URI=\"data:text/plain;base64,AQIDBA==\",", [1, 2, 3, 4]), ("URI=\"data:text/plain;base64,?\",", []),
            ("URI=\"data:,plain\",", Array("plain".utf8)),
            ("KEYID=0x0102,", [UInt8](repeating: 0, count: 14) + [1, 2]), ("", []),
        ] as [(String, [UInt8])]
    )
    func bodies(attributes: String, body: [UInt8]) async throws {
        let key = "#EXT-X-KEY:METHOD=SAMPLE-AES,\(attributes)KEYFORMAT=\"urn:uuid:edef8ba9\"\n"
        let played = try await play(key: key) { _ in Self.granted }
        #expect(played.outcome == .stopped && played.licences.map(\.body) == [body])
    }

    @Test("The data of the key is sent before the key identifier of the initialization section")
    func fragments() async throws {
        let played = try await play(Fixtures.hlsProtected) { _ in Self.granted }
        let body = try #require(played.licences.first?.body)
        #expect(body.dropFirst(4).prefix(4).elementsEqual("pssh".utf8) || body == Array("skd://asset-7".utf8))
        let plain = try await play(Fixtures.hlsProtected, key: "#EXT-X-KEY:METHOD=SAMPLE-AES-CTR\n") { _ in Self.granted
        }
        #expect(plain.licences.first?.body.isEmpty == false && plain.outcome == .stopped)
    }

    @Test("Playback starts no earlier than the licence arrives, and the request log has its time")
    func timing() async throws {
        let wait = Duration.milliseconds(700)
        let played = try await play { _ in [.waitUntil(wait)] + Self.granted }
        #expect(try #require(played.startTime) >= wait)
        let record = try #require(played.records.first { $0.kind == .licence })
        #expect(record.total >= wait && (record.firstByte ?? .zero) >= wait)
        // The segment did not wait for the licence.
        #expect(played.requests.contains { $0.target == "/media0.ts" })
    }

    @Test("A licence server that refuses ends the playback after the retries", arguments: [403, 500])
    func refused(status: Int) async throws {
        let played = try await play(retries: 1) { _ in [.respond("\(status) Refused", Array("secret reason".utf8))] }
        guard case .failed(let error) = played.outcome else {
            Issue.record("\(String(describing: played.outcome))")
            return
        }
        #expect(error.code == .httpStatus && error.phase == .licence && error.status == status)
        #expect(played.licences.count == 2 && played.startTime == nil && !"\(error)".contains("secret"))
    }

    @Test("A licence that is refused once is asked for again, with the same body")
    func retry() async throws {
        let played = try await play(retries: 1) { $0 == 1 ? [.respond("503 Busy")] : Self.granted }
        #expect(played.outcome == .stopped && played.licences.count == 2)
        #expect(Set(played.licences.map(\.body)).count == 1 && played.licences.first?.body.isEmpty == false)
    }

    @Test(
        "A licence server that hangs or disconnects ends the playback",
        arguments: [
            ([.hang], ProbeError.Code.timedOut), ([.send(Array("HTTP/1.1 200 OK\r\n".utf8)), .hang], .timedOut),
            ([.close], .connection), ([.reset], .connection),
        ] as [([TestServer.Step], ProbeError.Code)]
    )
    func silent(steps: [TestServer.Step], code: ProbeError.Code) async throws {
        let patience: Duration = code == .timedOut ? .milliseconds(300) : .seconds(1800)
        let played = try await play(patience: patience) { _ in steps }
        guard case .failed(let error) = played.outcome else {
            Issue.record("\(String(describing: played.outcome))")
            return
        }
        #expect(error.code == code && error.phase == .licence && played.startTime == nil, "\(error)")
        // libcurl repeats a request itself on a fresh connection where a kept one breaks before an answer.
        #expect(code == .timedOut ? played.licences.count == 1 : !played.licences.isEmpty)
    }
}
