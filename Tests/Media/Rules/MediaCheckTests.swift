import Foundation
import Instrument
import InstrumentCheck
import InstrumentHTTP
import LoopbackServers
import TestTraits
import Testing

/// Answers with the files of a folder.
struct FolderTransport: HTTPTransport {
    let folder: Scratch

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let name = String(request.url.path.dropFirst())
        let bytes = folder.bytes(name)
        return HTTPResponse(status: bytes.isEmpty ? 404 : 200, body: bytes, url: request.url)
    }
}

@Suite("Checks of pictures and sound in streams", .ownThread, .timeLimit(.minutes(30)))
struct MediaCheckTests {
    /// Checks eight seconds of generated media in segments of two seconds.
    private func check(
        _ video: String,
        _ audio: String,
        filters: String = "",
        configure: (inout MediaCheckConfiguration) -> Void
    ) async throws -> StreamCheckReport {
        let folder = try Scratch()
        let made = try await command(
            [
                "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "\(video)size=160x90:rate=25:duration=8\(filters)", "-f",
                "lavfi", "-i", "\(audio):duration=8", "-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-c:a",
                "aac", "-f",
                "hls", "-hls_time", "2", "-hls_list_size", "0", "-hls_playlist_type", "vod", folder.file("a.m3u8"),
            ]
        )
        try #require(made.status == 0, "\(made)")
        var configuration = StreamCheckConfiguration()
        configuration.segmentCount = 10
        configuration.rules = []
        var checks = MediaCheckConfiguration()
        configure(&checks)
        configuration.mediaChecks = checks
        let url = try HTTPURL("http://folder.example/a.m3u8")
        let transport = FolderTransport(folder: folder)
        let check = StreamCheck(url, transport: transport, clock: SteppingClock(), configuration: configuration)
        let kinds = Lock<Set<MediaFinding.Kind>>([])
        let report = await check.run { round in kinds.withLock { $0.formUnion(round.media.map(\.kind)) } }
        // A round shows intervals while they last.
        #expect(kinds.withLock { $0 } == Set(report.media.map(\.kind)))
        return report
    }

    private func all(_ checks: inout MediaCheckConfiguration) {
        (checks.black, checks.freeze, checks.silence) = (.seconds(3), .seconds(3), .seconds(3))
        checks.loudness = true
    }

    @Test("A black and silent stream is reported once for its pictures and once for its sound")
    func nothing() async throws {
        let report = try await check("color=c=black:", "anullsrc=sample_rate=48000", configure: all)
        #expect(report.media.map(\.kind) == [.black, .silence])
        for finding in report.media {
            // Pictures count from the first keyframe to the last one.
            let expected: Int64 = finding.kind == .silence ? 8_000_000_000 : 7_000_000_000
            #expect(abs(finding.length - expected) < 200_000_000, "\(finding)")
            #expect(finding.start == 0)
        }
        #expect(report.isFailed(isStrict: false))
        #expect(report.loudness?.integrated == nil)
    }

    @Test("A still picture with a tone is frozen, and a moving one is not")
    func frozen() async throws {
        let still = try await check("smptebars=", "sine=frequency=1000:sample_rate=48000", configure: all)
        #expect(still.media.map(\.kind) == [.freeze])
        let moving = try await check("testsrc=", "sine=frequency=1000:sample_rate=48000", configure: all)
        #expect(moving.media.isEmpty)
        #expect(!moving.isFailed(isStrict: true))
        let loudness = try #require(moving.loudness)
        // A sine of an eighth of full scale on one channel.
        #expect(abs(try #require(loudness.integrated) + 21.1) < 1)
    }

    @Test("A black interval that has ended is not also reported as frozen")
    func blackThenPicture() async throws {
        let black = "drawbox=color=black:thickness=fill:enable='lt(t,5)'"
        let report = try await check(
            "testsrc=",
            "sine=frequency=1000:sample_rate=48000",
            filters: "," + black,
            configure: all
        )
        #expect(report.media.map(\.kind) == [.black])
    }

    @Test("An interval that is shorter than the limit is no fault")
    func short() async throws {
        let report = try await check("color=c=black:", "anullsrc=sample_rate=48000") { checks in
            (checks.black, checks.silence) = (.seconds(60), .seconds(60))
        }
        #expect(report.media.isEmpty)
        #expect(report.loudness == nil)
    }
}
