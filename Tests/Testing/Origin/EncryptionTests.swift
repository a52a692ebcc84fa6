import Foundation
import Instrument
import LoopbackServers
import NIOCore
import TestTraits
import Testing

@testable import InstrumentOrigin

@Suite("Encrypted fixtures", .ownThread, .timeLimit(.minutes(30)))
struct EncryptionTests {
    @Test("The cipher gives the vectors of its standard")
    func cipher() throws {
        // FIPS 197, appendix B and C.1.
        let examples: [(key: [UInt8], plain: [UInt8], encrypted: String)] = [
            (
                [0x2B, 0x7E, 0x15, 0x16, 0x28, 0xAE, 0xD2, 0xA6, 0xAB, 0xF7, 0x15, 0x88, 0x09, 0xCF, 0x4F, 0x3C],
                [0x32, 0x43, 0xF6, 0xA8, 0x88, 0x5A, 0x30, 0x8D, 0x31, 0x31, 0x98, 0xA2, 0xE0, 0x37, 0x07, 0x34],
                "3925841d02dc09fbdc118597196a0b32"
            ),
            (
                Array(0..<16), (0..<16).map { UInt8($0 * 0x11) },
                "69c4e0d86a7b0430d8cdb78070b4c55a"
            ),
        ]
        for example in examples {
            let cipher = try #require(BlockCipher(key: example.key))
            var block = example.plain
            cipher.encrypt(&block)
            #expect(block.map { String(format: "%02x", $0) }.joined() == example.encrypted)
        }
        #expect(BlockCipher(key: []) == nil)
    }

    /// The frames of a file as ffmpeg decodes them.
    private func frames(_ file: [UInt8], _ options: [String] = []) async throws -> [String] {
        let path = FileManager.default.temporaryDirectory.path + "/encrypted-\(UUID().uuidString).mp4"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(file).write(to: URL(filePath: path))
        let result = try await command(
            ["timeout", "1800", "ffmpeg", "-nostdin", "-v", "error"] + options + ["-i", path, "-f", "framecrc", "-"]
        )
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors.prefix(500))")
        return result.output.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
    }

    @Test(
        "With the key, ffmpeg decodes the same frames as without encryption",
        arguments: EncryptionScheme.allCases,
        ["v0", "v2", "en"]
    )
    func decrypted(scheme: EncryptionScheme, track: String) async throws {
        let site = try Site([.fixtures(try await SharedFixtures.get())])
        let zero = WallTime(milliseconds: 0)
        let moment = Moment(now: zero, originStart: zero, sessionStart: zero)
        func bytes(_ folder: String, _ name: String) throws -> [UInt8] {
            let path = "/vod/\(folder)/\(track)/\(name)"
            let body = try #require(site.resource(at: path, query: "", moment: moment)?.body)
            return Array(try #require(body.bytes(at: 0, count: body.count)).readableBytesView)
        }
        let key = EncryptionScheme.key.map { String(format: "%02x", $0) }.joined()
        // One segment at a time: ffmpeg 5.1 confuses the vectors of several fragments in one file.
        for number in [0, 7] {
            let (plain, protected) = (
                try bytes("fmp4", "\(number).m4s"), try bytes(scheme.rawValue, "\(number).m4s")
            )
            let expected = try await frames(bytes("fmp4", "init.mp4") + plain)
            let found = try await frames(bytes(scheme.rawValue, "init.mp4") + protected, ["-decryption_key", key])
            #expect(found == expected && expected.count >= 50)
            // The bytes that were sent differ from the plain media.
            let changed = zip(plain.suffix(15_000), protected.suffix(15_000)).count { $0 != $1 }
            #expect(changed > 300, "\(changed)")
        }
    }

    @Test(
        "A picture's slices are encrypted from their 33rd byte on, one block in ten, and their last block stays clear"
    )
    func slices() throws {
        let encryption = try #require(
            ElementaryEncryption(key: Fixtures.key, vector: Fixtures.initializationVector)
        )
        func changed(_ unit: [UInt8]) -> [Int] {
            let found = encryption.picture([0, 0, 0, 1] + unit).dropFirst(4)
            return zip(unit.indices, found).filter { unit[$0] != $1 }.map(\.0)
        }
        // No zeros, so that an encrypted block makes an escape unlikely.
        func slice(_ count: Int) -> [UInt8] { [0x65] + (1..<count).map { UInt8($0 % 200 + 40) } }
        for count in [1, 40, 48] { #expect(changed(slice(count)).isEmpty, "\(count)") }
        for (count, blocks) in [(49, [32]), (64, [32]), (208, [32]), (209, [32, 192]), (368, [32, 192])] {
            let expected = blocks.flatMap { $0..<($0 + 16) }
            let found = changed(slice(count))
            #expect(Set(found).isSubset(of: expected) && found.count > expected.count - 4, "\(count): \(found)")
        }
        // Parameter sets stay clear.
        #expect(changed([0x67] + slice(300)).isEmpty)
        #expect(ElementaryEncryption(key: [1], vector: Fixtures.initializationVector) == nil)
        #expect(ElementaryEncryption(key: Fixtures.key, vector: []) == nil)
    }

    @Test(
        "With the key, ffmpeg decrypts a transport stream with SAMPLE-AES to the packets of the one without encryption"
    )
    func transportStream() async throws {
        let origin = try await Origin.start(media: [.fixtures(try await SharedFixtures.get())])
        defer { Task { await origin.stop() } }
        func packets(_ path: String, _ stream: String) async throws -> [String] {
            let result = try await command(
                ["timeout", "1800", "ffmpeg", "-nostdin", "-v", "error", "-i", origin.url(path)]
                    + ["-map", "0:\(stream):0", "-c", "copy", "-f", "framecrc", "-"]
            )
            #expect(result.status == 0, "\(path): \(result.errors.prefix(500))")
            return result.output.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
        }
        for (stream, count) in [("v", 600), ("a", 1_125)] {
            let plain = try await packets("vod/ts/v0.m3u8", stream)
            let protected = try await packets("vod/sample-aes/index.m3u8", stream)
            // Those that ffmpeg 5.1 has in its parsers at the end of the stream it does not decrypt any more.
            #expect(protected.dropLast(8) == plain.dropLast(8) && abs(plain.count - count) <= 1, "\(stream)")
        }
        let (clear, sent) = (
            try await fetch(origin.port, "/vod/ts/v0/3.ts").body,
            try await fetch(origin.port, "/vod/sample-aes/3.ts").body
        )
        #expect(sent.count % 188 == 0 && zip(clear, sent).count { $0 != $1 } > 10_000)
        #expect(origin.requests.contains { $0.path == "/vod/sample-aes/key" })
    }

    @Test("Encryption changes no counter of packets, so that segments follow one another without a gap")
    func counters() async throws {
        let site = try Site([.fixtures(try await SharedFixtures.get())])
        let zero = WallTime(milliseconds: 0)
        let moment = Moment(now: zero, originStart: zero, sessionStart: zero)
        var counters: [Int: UInt8] = [:]
        for number in 0..<12 {
            let path = "/vod/sample-aes/\(number).ts"
            let body = try #require(site.resource(at: path, query: "", moment: moment)?.body)
            let bytes = Array(try #require(body.bytes(at: 0, count: body.count)).readableBytesView)
            for start in stride(from: 0, to: bytes.count, by: 188) {
                let packet = bytes[start..<(start + 188)]
                let (pid, fields) = (TransportStream.pid(of: packet), bytes[start + 3])
                try #require(bytes[start] == 0x47)
                if pid != 0x1FFF, let last = counters[pid] { #expect(fields & 0x0F == (last + 1) & 0x0F) }
                counters[pid] = fields & 0x0F
            }
        }
        #expect(counters.count >= 4)
    }

    @Test("The licence server answers a request with a body with the key of the media")
    func licence() async throws {
        let origin = try await Origin.start(media: [.fixtures(try await SharedFixtures.get())])
        defer { Task { await origin.stop() } }
        let answer = try await fetch(origin.port, "/s/a/licence", method: "POST", headers: "Content-Length: 0\r\n")
        #expect(answer.status == 200 && answer.header("Content-Type") == "application/json")
        let licence = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        let key = (licence?["keys"] as? [[String: String]])?.first
        #expect(key?["kty"] == "oct" && key?["kid"] == "aW5zdHJ1bWVudC9rZXktMQ" && key?["k"]?.count == 22)
        #expect(
            try await fetch(origin.port, "/vod/ts/key", method: "POST", headers: "Content-Length: 0\r\n").status == 405
        )
    }
}
