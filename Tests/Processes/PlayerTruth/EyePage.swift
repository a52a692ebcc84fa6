import Foundation
import Instrument
import InstrumentChrome
import InstrumentFrameCode
import LoopbackServers
import TruthStage

/// A page that plays an address, and whose eye reads the number of the picture from a canvas at each refresh of the
/// screen. The eye and the tracker have nothing in common but the clock of the machine.
final class EyePage: Sendable {
    private struct Report: Decodable {
        /// Pairs of the page's time in milliseconds and a picture's cells.
        var sightings: [Sighting]
        /// Triples: the page's time before a question, the server's time in nanoseconds, the page's time after it.
        var clocks: [[Double]]
        /// The longest time between two refreshes.
        var worstGap: Double
        /// The library's version.
        var version: String?
        /// What the page's scripts threw.
        var failures: [String]

        struct Sighting: Decodable {
            var time: Double
            var cells: String
        }
    }

    private let server: TestServer
    private let (reports, continuation) = AsyncStream.makeStream(of: [UInt8].self)

    init() throws {
        let continuation = continuation
        server = try TestServer { request in
            let permission = "Access-Control-Allow-Origin: *"
            switch request.target {
            case "/time":
                return [.respond("200 OK", Array("\(SystemClock().now.nanoseconds)".utf8), permission)]
            case "/report":
                continuation.yield(request.body)
                return [.respond("204 No Content", [], permission)]
            default: return [.respond("404 Not Found", [], permission)]
            }
        }
    }

    /// The page of a library that plays an address as a schedule says.
    func html(playing address: String, _ library: PageLibrary, _ schedule: TruthSchedule) -> [UInt8] {
        let texts = library.source.map { [$0] } ?? []
        let sources = StreamPage.embeddable(
            String(decoding: (try? JSONEncoder().encode(texts)) ?? Data("[]".utf8), as: UTF8.self)
        )
        let timers = schedule.steps.map { "setTimeout(() => { \(statement(of: $0)) }, \($0.second * 1000))" }
            .joined(separator: "\n")
        return Array(
            """
            <!doctype html><meta charset="utf-8"><body style="margin:0">
            <video id="video" width="640" height="360" autoplay playsinline></video><script>
            \(StreamPage.loader)
            const video = document.getElementById("video"), address = "\(address)", server = "\(server.url(""))"
            const canvas = new OffscreenCanvas(320, 180), context = canvas.getContext("2d", { willReadFrequently: true })
            const sightings = [], clocks = [], failures = []
            addEventListener("error", (event) => failures.push(event.message))
            addEventListener("unhandledrejection", (event) => failures.push(String(event.reason?.code ?? event.reason)))
            let last = "", before = performance.now(), worstGap = 0
            function look() {
              const now = performance.now()
              worstGap = Math.max(worstGap, now - before)
              before = now
              if (video.readyState >= 2) {
                context.drawImage(video, 0, 0, 320, 180)
                const pixels = context.getImageData(0, 0, 320, 32).data, levels = []
                for (let cell = 0; cell < 40; cell += 1) {
                  const left = (cell % 20) * 16, top = Math.floor(cell / 20) * 16
                  let sum = 0
                  for (let y = top + 5; y < top + 11; y += 1) {
                    for (let x = left + 5; x < left + 11; x += 1) sum += pixels[(y * 320 + x) * 4 + 1]
                  }
                  levels.push(sum / 36)
                }
                const middle = (levels[0] + levels[1]) / 2
                const cells = levels.map((level) => level > middle ? "1" : "0").join("")
                if (cells !== last) sightings.push({ time: now, cells: last = cells })
              }
              requestAnimationFrame(look)
            }
            async function ask() {
              const sent = performance.now()
              const time = Number(await (await fetch(server + "/time")).text())
              clocks.push([sent, time, performance.now()])
            }
            (async () => {
              let module = {}, version = null
              for (const source of \(sources)) module = await load(source)
              for (let count = 0; count < 20; count += 1) await ask()
              requestAnimationFrame(look)
              \(library.statements)
              \(timers)
              setTimeout(() => fetch(server + "/report", { method: "POST", mode: "no-cors",
                body: JSON.stringify({ sightings, clocks, worstGap, version, failures }) }), \(schedule.seconds * 1000))
            })()
            </script>
            """.utf8
        )
    }

    private func statement(of step: TruthSchedule.Step) -> String {
        switch step {
        case .pause: "video.pause()"
        case .resume: "video.play()"
        case .seek(_, let time): "video.currentTime = \(Double(time) / 1000)"
        }
    }

    /// What the eye saw, the longest time between two of its looks, and what the page says of its library.
    func result(within limit: Duration) async throws -> (
        eye: PlaybackEye, worstGap: Duration, version: String?, failures: [String]
    ) {
        let patience = Task { [continuation] in
            try await Task.sleep(for: limit)
            continuation.finish()
        }
        defer { patience.cancel() }
        for await bytes in reports {
            let report = try JSONDecoder().decode(Report.self, from: Data(bytes))
            // An eye that was blind for a while sees no stall in that.
            var eye = PlaybackEye(patience: .milliseconds(max(100, report.worstGap)))
            // The server read its clock between the page's two readings: the quickest answer tells most.
            let best = report.clocks.min { $0[2] - $0[0] < $1[2] - $1[0] } ?? [0, 0, 0]
            let offset = best[1] - (best[0] + best[2]) / 2 * 1e6
            for sighting in report.sightings {
                let number = FrameCode.number(of: sighting.cells.map { $0 == "1" })
                eye.saw(number, at: MonotonicInstant(nanoseconds: Int64(sighting.time * 1e6 + offset)))
            }
            return (eye, .milliseconds(report.worstGap), report.version, report.failures)
        }
        return (PlaybackEye(), .zero, nil, ["The page did not report."])
    }
}
