internal import Foundation
internal import Instrument

/// A page in a headless Chromium that appends media to buffers of Media Source Extensions, and plays files.
package enum MediaSourcePage {
    /// Media that the page appends, or plays.
    package struct Trial: Codable, Hashable, Sendable {
        package var name: String
        /// The type of the buffer; nil for a file that a `video` element plays to its end.
        package var type: String?
        /// The addresses of the parts, in order, each with the first and last byte of a range; nil for the whole.
        package var parts: [Part]

        package struct Part: Codable, Hashable, Sendable {
            package var url: String
            package var range: String?

            package init(_ url: String, range: ClosedRange<Int>? = nil) {
                self.url = url
                self.range = range.map { "bytes=\($0.lowerBound)-\($0.upperBound)" }
            }
        }

        package init(_ name: String, type: String?, parts: [Part]) {
            self.name = name
            self.type = type
            self.parts = parts
        }
    }

    /// The page's report about a trial.
    package struct Report: Decodable, Hashable, Sendable {
        package var name: String
        /// The reason for which the browser refused the media; empty if it took all parts.
        package var error: String
        /// The number of buffered ranges.
        package var ranges: Int
        /// Where the media begins and ends, in seconds; of a played file, where it ended.
        package var start: Double
        package var end: Double
    }

    /// Shows the page and waits for its report.
    ///
    /// - Parameter files: what the page's own server has, by path.
    /// - Throws: `Browser.Unavailable` without a browser.
    package static func reports(
        on trials: [Trial],
        files: [String: [UInt8]] = [:]
    ) async throws -> [Report] {
        let page = Array(page.utf8)
        let list = Array(try JSONEncoder().encode(trials))
        let (reports, continuation) = AsyncStream.makeStream(of: Result<[UInt8], Browser.Unavailable>.self)
        let server = try TestServer { request in
            switch request.target {
            case "/": return [.respond("200 OK", page, "Content-Type: text/html")]
            case "/trials": return [.respond("200 OK", list, "Content-Type: application/json")]
            case "/report":
                continuation.yield(.success(request.body))
                return [.respond("204 No Content")]
            default: return [files[request.target].map { .respond("200 OK", $0) } ?? .respond("404 Not Found")]
            }
        }
        let browser = try Browser(opening: server.url()) { errors in
            continuation.yield(.failure(Browser.Unavailable(reason: "it ended before the page reported: \(errors)")))
        }
        defer { browser.end() }
        for await report in reports { return try JSONDecoder().decode([Report].self, from: Data(report.get())) }
        throw Browser.Unavailable(reason: "the page did not report")
    }

    private static let page = """
        <!doctype html><meta charset="utf-8"><title>append</title><script>
        function once(target, good, video) {
          return new Promise((done, fail) => {
            target.addEventListener(good, done, { once: true })
            target.addEventListener("error", () => fail(new Error("error event")), { once: true })
            video.addEventListener("error", () => fail(new Error("media error")), { once: true })
          })
        }
        async function append(trial, video, result) {
          const source = new MediaSource()
          video.src = URL.createObjectURL(source)
          await once(source, "sourceopen", video)
          const buffer = source.addSourceBuffer(trial.type)
          for (const part of trial.parts) {
            const answer = await fetch(part.url, part.range ? { headers: { Range: part.range } } : {})
            if (!answer.ok) throw new Error("status " + answer.status + " of " + part.url)
            const bytes = await answer.arrayBuffer()
            const appended = once(buffer, "updateend", video)
            buffer.appendBuffer(bytes)
            await appended
            if (video.error) throw new Error(video.error.message)
          }
          result.ranges = buffer.buffered.length
          if (result.ranges === 0) return
          result.start = buffer.buffered.start(0)
          result.end = buffer.buffered.end(result.ranges - 1)
        }
        async function play(trial, video, result) {
          video.muted = true
          video.playbackRate = 16
          video.src = trial.parts[0].url
          const ended = once(video, "ended", video)
          await video.play()
          await ended
          result.ranges = 1
          result.start = 0
          result.end = video.currentTime
        }
        async function report(trial) {
          const video = document.createElement("video")
          const result = { name: trial.name, error: "", ranges: 0, start: -1, end: -1 }
          try {
            if (trial.type) await append(trial, video, result)
            else await play(trial, video, result)
          } catch (error) {
            result.error = error.message + " " + (video.error ? video.error.message : "")
          }
          video.removeAttribute("src")
          video.load()
          return result
        }
        (async () => {
          const trials = await (await fetch("/trials")).json()
          const results = []
          for (const trial of trials) results.push(await report(trial))
          await fetch("/report", { method: "POST", body: JSON.stringify(results) })
        })()
        </script>
        """
}
