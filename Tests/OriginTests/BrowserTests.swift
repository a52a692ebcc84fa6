import Foundation
import Instrument
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentOrigin

/// Chromium plays the origin's media: a probe of media that no browser plays would measure nothing real.
@Suite("The fixtures in a browser", .ownThread, .timeLimit(.minutes(30)))
struct BrowserTests {
    /// The page's report about one track.
    private struct Appended: Decodable, Hashable {
        var track: String
        var error: String
        /// Where the media begin and end, in seconds.
        var start: Double
        var end: Double
    }

    @Test("Chromium appends every fragmented track from its initialization segment to its end")
    func appended() async throws {
        let fixtures = try await SharedFixtures.get()
        let origin = try await Origin.start(media: [.fixtures(fixtures)], schedule: DeliverySchedule("unlimited"))
        defer { Task { await origin.stop() } }
        let names = Fixtures.variants.map(\.name) + Fixtures.languages.map(\.name)
        var tracks: [[String: Any]] = []
        for name in names {
            let track = try #require(fixtures.track(name, .fragmented))
            let file = try #require(fixtures.fragmentedFile(name))
            let kind = name.hasPrefix("v") ? "video" : "audio"
            let files = ["init.mp4"] + (0..<track.count).map { "\($0).m4s" }
            tracks.append([
                "name": name, "type": "\(kind)/mp4; codecs=\"\(file.codecs)\"",
                "files": files.map { origin.url("vod/fmp4/\(name)/\($0)") },
            ])
        }
        let json = String(decoding: try JSONSerialization.data(withJSONObject: tracks), as: UTF8.self)
        let report: [UInt8]
        do {
            report = try await Self.report(of: Self.page.replacingOccurrences(of: "TRACKS", with: json))
        } catch let error as Browser.Unavailable {
            return print("SKIPPED: the fixtures in a browser, because \(error.reason)")
        }
        let appended = try JSONDecoder().decode([Appended].self, from: Data(report))
        #expect(appended.map(\.track) == names)
        for track in appended {
            #expect(track.error.isEmpty, "\(track.track): \(track.error)")
            // A frame of AAC is 21 ms long; the encoder's first frames carry no sound, and are there nevertheless.
            #expect(track.start < 0.1 && abs(track.end - Double(fixtures.seconds)) < 0.1, "\(track)")
        }
    }

    /// Shows a page and waits for its report.
    private static func report(of page: String) async throws -> [UInt8] {
        let (reports, continuation) = AsyncStream.makeStream(of: Result<[UInt8], Browser.Unavailable>.self)
        let server = try TestServer { request in
            guard request.target == "/report" else {
                return [.respond("200 OK", Array(page.utf8), "Content-Type: text/html")]
            }
            continuation.yield(.success(request.body))
            return [.respond("204 No Content")]
        }
        let browser = try Browser(opening: server.url()) { errors in
            continuation.yield(.failure(Browser.Unavailable(reason: "it ended before the page reported: \(errors)")))
        }
        defer { browser.end() }
        for await report in reports { return try report.get() }
        throw Browser.Unavailable(reason: "the page did not report")
    }

    private static let page = """
        <!doctype html><meta charset="utf-8"><title>append</title><video id="video"></video><script>
        async function append(track) {
          const source = new MediaSource()
          const video = document.createElement("video")
          video.src = URL.createObjectURL(source)
          await new Promise(done => source.addEventListener("sourceopen", done, { once: true }))
          const result = { track: track.name, error: "", start: -1, end: -1 }
          try {
            const buffer = source.addSourceBuffer(track.type)
            for (const file of track.files) {
              const bytes = await (await fetch(file)).arrayBuffer()
              await new Promise((done, fail) => {
                buffer.addEventListener("updateend", done, { once: true })
                buffer.addEventListener("error", () => fail(new Error("error event")), { once: true })
                buffer.appendBuffer(bytes)
              })
              if (video.error) throw new Error(video.error.message)
            }
            if (buffer.buffered.length !== 1) throw new Error(buffer.buffered.length + " buffered ranges")
            result.start = buffer.buffered.start(0)
            result.end = buffer.buffered.end(0)
          } catch (error) {
            result.error = track.files.length + " files: " + error.message + " " + (video.error?.message ?? "")
          }
          return result
        }
        (async () => {
          const results = []
          for (const track of TRACKS) results.push(await append(track))
          await fetch("/report", { method: "POST", body: JSON.stringify(results) })
        })()
        </script>
        """
}
