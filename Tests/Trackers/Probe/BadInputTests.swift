import Foundation
import Instrument
import InstrumentProbe
import TestTraits
import Testing

@Suite("Bad input", .ownThread, .timeLimit(.minutes(30)))
struct BadInputTests {
    /// Short limits, for servers that send nothing.
    static let hasty = ProbeConfiguration(openTimeout: .seconds(1), readTimeout: .milliseconds(700))
    /// A short limit for reads after the start, independent of the start's duration.
    private static let hastyReader = ProbeConfiguration(openTimeout: .seconds(900), readTimeout: .seconds(3))

    private func error(_ source: String, _ configuration: ProbeConfiguration = ProbeConfiguration()) async
        -> ProbeError?
    {
        let played = await playThrough(source, configuration)
        guard case .failed(let error) = played.outcome else { return nil }
        #expect(played.actions.last == .error)
        #expect(played.actions.filter { $0 == .error }.count == 1)
        #expect(!played.actions.contains(.end))
        #expect(played.events.last?[.errorDescription] == error.message)
        #expect(played.events.last?[.isFatal] == true)
        #expect(played.rejected.isEmpty)
        return error
    }

    @Test("The probe reports the kind of a source that is not media")
    func files() async throws {
        #expect(await error("/nowhere/film.mp4")?.code == .notFound)
        #expect(await error("film\0.mp4")?.code == .notFound)
        #expect(await error("")?.code == .notFound)
        #expect(await error(Fixtures.folder.path)?.code == .isDirectory)
        #expect(await error(try Fixtures.file(Data(), "empty.mp4"))?.code == .empty)
        #expect(await error("/dev/zero")?.code == .unreadable)
        let text = Data(String(repeating: "This is a letter, not a film.\n", count: 100).utf8)
        #expect(await error(try Fixtures.file(text, "letter.mp4"))?.code == .unsupportedFormat)
    }

    @Test(
        "The probe recognises playlists in any source, and does not follow references to other protocols and containers"
    )
    func playlists() async throws {
        let hls = Data("#EXTM3U\n#EXTINF:4,\nfile:///etc/passwd\n".utf8)
        #expect(await error(try Fixtures.file(hls, "list.mp4"))?.code == .playlist)
        let dash = Data("<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"></MPD>".utf8)
        #expect(await error(try Fixtures.file(dash, "list.mpd"))?.code == .playlist)
        let film = try Fixtures.mp4.get()
        let concat = Data("ffconcat version 1.0\nfile \(film)\n".utf8)
        #expect(await error(try Fixtures.file(concat, "list.ffconcat"))?.code == .unsupportedFormat)
        #expect(await error("concat:\(film)|\(film)")?.code == .notFound)
        for scheme in ["rtmp", "ftp", "pipe", "crypto", "data"] {
            #expect(await error("\(scheme)://host/film")?.code == .unsupportedScheme)
        }
    }

    @Test(
        "A truncated film plays its media, and then fails",
        arguments: [Fixtures.mp4, Fixtures.mkv, Fixtures.flac]
    )
    func truncated(_ path: Result<String, FixtureError>) async throws {
        let whole = try Fixtures.data(try path.get())
        let part = try Fixtures.file(whole.prefix(whole.count * 6 / 10))
        let played = await playThrough(part)
        guard case .failed(let error) = played.outcome else { return #expect(Bool(false), "did not fail") }
        #expect(error.code == .endedEarly)
        let position = try #require(played.first(.error)?[.position]).milliseconds
        #expect((1500...3200).contains(position))
        #expect(played.first(.error)?[Action.start.timeKey] == position)
    }

    @Test("A film that ends before its index is truncated, from a file and over HTTP")
    func noIndex() async throws {
        let whole = try Fixtures.data(try Fixtures.mp4AtEnd.get())
        let half = whole.prefix(whole.count / 2)
        let server = try LoopbackServer([.serve(half)])
        for source in [try Fixtures.file(half), server.address] {
            let failure = try #require(await error(source))
            #expect(failure.code == .endedEarly && failure.phase == .open)
            #expect(failure.message.contains("before the end of its index (`moov`): `mdat` declares "), "\(failure)")
            // The media begin behind `ftyp`, `free` and the head of `mdat`.
            #expect(failure.message.contains(" bytes, and \(half.count - 40) of them are there"), "\(failure)")
        }
    }

    @Test("A film whose index is cut off or was never written, and a segment alone, are named as such")
    func cutIndex() async throws {
        let whole = try Fixtures.data(try Fixtures.mp4AtEnd.get())
        let index = try #require(whole.range(of: Data("moov".utf8), options: .backwards)).lowerBound - 4
        // Inside the header of the movie, of a track and of its samples.
        for count in [60, 400, (whole.count - index) / 4] {
            let failure = try #require(await error(try Fixtures.file(whole[..<(index + count)])))
            let words = "`moov` declares \(whole.count - index) bytes, and \(count) of them"
            #expect(failure.code == .endedEarly && failure.message.contains(words), "\(failure)")
        }
        let unfinished = try #require(await error(try Fixtures.file(whole[..<index])))
        #expect(unfinished.code == .endedEarly, "\(unfinished)")
        #expect(unfinished.message.contains("has no index (`moov`)"), "\(unfinished)")
        let segment = try Fixtures.data(try Fixtures.hlsMP4.get() + "/media0.m4s")
        let alone = try #require(await error(try Fixtures.file(segment)))
        #expect(alone.code == .unsupportedFormat && alone.message.contains("initialization section"), "\(alone)")
    }

    @Test(
        "The error of a refused request has the server's status",
        arguments: [
            ("404 Not Found", ProbeError.Code.notFound), ("403 Forbidden", .httpStatus), ("410 Gone", .httpStatus),
            ("503 Service Unavailable", .httpStatus),
        ]
    )
    func status(_ answer: (String, ProbeError.Code)) async throws {
        let server = try LoopbackServer([LoopbackServer.head(answer.0, length: 0)])
        #expect(await error(server.address)?.code == answer.1)
    }

    @Test("A server that refuses, hangs or sends no byte is an error")
    func silence() async throws {
        #expect(await error("http://127.0.0.1:\(try LoopbackServer.closedPort())/film.mp4")?.code == .connection)
        let mute = try LoopbackServer([.hang])
        #expect(await error(mute.address, Self.hasty)?.code == .timedOut)
        let empty = try LoopbackServer([LoopbackServer.head("200 OK", length: 0)])
        #expect(await error(empty.address)?.code == .empty)
        let closing = try LoopbackServer([])
        #expect(await error(closing.address) != nil)
    }

    @Test("A playback plays the received media and then fails when the server stops within a film")
    func hangsInBody() async throws {
        let film = try Fixtures.data(try Fixtures.long.get())
        let server = try LoopbackServer([
            LoopbackServer.head("200 OK", length: film.count), .send(film.prefix(film.count / 2)), .hang,
        ])
        let failure = try #require(await error(server.address, Self.hastyReader))
        #expect(failure.code == .timedOut)
        #expect(failure.phase == .read)
    }

    @Test("A body shorter than its declared length is an error")
    func shortBody() async throws {
        let film = try Fixtures.data(try Fixtures.ts.get())
        let server = try LoopbackServer([
            LoopbackServer.head("200 OK", length: film.count), .send(film.prefix(film.count / 2)),
        ])
        let failure = try #require(await error(server.address))
        #expect(failure.code == .endedEarly)
    }

    @Test("A redirect to a file or another protocol is refused")
    func redirection() async throws {
        let server = try LoopbackServer([
            LoopbackServer.head("302 Found", length: 0, "Location: file://\(try Fixtures.mp4.get())\r\n")
        ])
        #expect(await error(server.address) != nil)
    }

    @Test("Errors and descriptions contain no secrets of an address")
    func secrets() async throws {
        let server = try LoopbackServer([LoopbackServer.head("404 Not Found", length: 0)])
        let address = "http://user:pa55@127.0.0.1:\(server.port)/film.mp4?token=s3cret#s3cret"
        let played = await playThrough(address)
        #expect(server.requests.first?.contains("token=s3cret") == true)
        let told = "\(played.events) \(String(describing: played.outcome))"
        #expect(!told.contains("pa55") && !told.contains("s3cret"))
        #expect(played.first(.mediaRequest)?[.source] == "http://127.0.0.1:\(server.port)/film.mp4")
    }
}
