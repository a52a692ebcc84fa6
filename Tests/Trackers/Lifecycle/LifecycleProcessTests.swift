#if os(Linux)
import Foundation
import Instrument
import InstrumentBackends
import LoopbackServers
import TestTraits
import Testing

/// A child process that is stopped, continued and ended by signals. `LIFECYCLE_RUNS` says how often it is ended early.
@Suite("Signals of a process", .ownThread, .serialized)
struct LifecycleProcessTests {
    private final class Child {
        let process = Process()
        let folder: String
        private let output = Pipe.forChild()

        init(_ options: String...) throws {
            folder = NSTemporaryDirectory() + "instrument-lifecycle-\(UUID().uuidString.prefix(8))"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let bundle = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
            process.executableURL = bundle.appendingPathComponent("LifecycleChild")
            process.arguments = [folder + "/samples", folder + "/queue"] + options
            process.standardOutput = output
            try process.start()
            // Written when the handlers are installed.
            _ = output.fileHandleForReading.availableData
        }

        deinit {
            if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
            try? FileManager.default.removeItem(atPath: folder)
        }

        func send(_ signal: Int32) { Foundation.kill(process.processIdentifier, signal) }

        func wait() { process.waitUntilExit() }

        /// The state in `/proc/PID/stat`: `T` is stopped.
        var state: String? {
            let text = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
            return text?.split(separator: ")").last?.split(separator: " ").first.map(String.init)
        }

        func waitUntilStopped() {
            let end = Date(timeIntervalSinceNow: 1800)
            while state != "T", Date() < end { usleep(2000) }
            #expect(state == "T")
        }

        var delivered: [String] { events.map(\.action.description) }

        var events: [Event] {
            let bytes = FileManager.default.contents(atPath: folder + "/samples") ?? Data()
            return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
                guard let record = try? JSONLines.decode(Array(line)), case .event(let event) = record.sample else {
                    return nil
                }
                return event
            }
        }

        func waitForDelivery(_ count: Int) {
            let end = Date(timeIntervalSinceNow: 1800)
            while delivered.count < count, Date() < end { usleep(5000) }
        }

        /// By which signal it ended, or with which status.
        var ending: String { "\(process.terminationReason == .exit ? "exit" : "signal") \(process.terminationStatus)" }
    }

    @Test(
        "SIGTERM delivers the last events, and the process ends by the signal",
        arguments: [SIGTERM, SIGINT, SIGHUP]
    )
    func terminated(signal: Int32) throws {
        let child = try Child()
        child.send(signal)
        child.wait()
        #expect(child.ending == "signal \(signal)")
        #expect(child.delivered == ["AppActive", "Hello", "AppTerminating"])
    }

    @Test("Running collections are delivered before the process ends or is stopped")
    func collectors() throws {
        let child = try Child("collectors")
        child.send(SIGTERM)
        child.wait()
        #expect(child.ending == "signal \(SIGTERM)")
        let actions = child.delivered
        #expect(actions == ["AppActive", "DeviceProperties", "Hello", "AppTerminating", "AppState"])
        let state = try #require(child.events.last)
        #expect(state.attributes["applicationState"] == "active")
        #expect(state.attributes["sdkVersion"] == "test")
        // Its time is when the collection began: when the app became active.
        let active = try #require(child.events.first)
        #expect(active.time.instant <= state.time.instant && state.time.instant <= child.events[2].time.instant)

        let stopped = try Child("collectors")
        stopped.send(SIGTSTP)
        stopped.waitUntilStopped()
        #expect(stopped.delivered.suffix(3) == ["AppBackground", "AppState", "DeviceProperties"])
        stopped.send(SIGCONT)
        stopped.send(SIGKILL)
        stopped.wait()
    }

    @Test("SIGTSTP delivers samples before the stop, and SIGCONT continues the process")
    func stopped() throws {
        // Samples that are not flushed are due a second later, when the process is already stopped.
        let child = try Child("quick")
        child.send(SIGTSTP)
        child.waitUntilStopped()
        #expect(child.delivered == ["AppActive", "Hello", "AppInactive", "AppBackground"])
        // A stop would take back a SIGCONT that no thread has got yet.
        child.send(SIGCONT)
        child.waitForDelivery(6)
        child.send(SIGTSTP)
        child.waitUntilStopped()
        #expect(child.delivered.count == 8)
        child.send(SIGCONT)
        child.waitForDelivery(10)
        child.send(SIGTERM)
        child.wait()
        #expect(child.ending == "signal \(SIGTERM)")
        #expect(child.delivered.suffix(3) == ["AppForeground", "AppActive", "AppTerminating"])
        #expect(child.delivered.filter { $0 == "AppBackground" }.count == 2)
    }

    @Test("The app's own handler still runs, and the app ends in its own way")
    func ownHandler() throws {
        let child = try Child("handler")
        child.send(SIGTERM)
        child.wait()
        #expect(FileManager.default.fileExists(atPath: child.folder + "/samples.handler"))
        #expect(child.ending == "exit 7")
        #expect(child.delivered.last == "AppTerminating")
    }

    @Test("The flush runs while all threads of Swift's pool are blocked")
    func blocked() throws {
        let child = try Child("blocked")
        child.send(SIGTERM)
        child.wait()
        #expect(child.ending == "signal \(SIGTERM)")
        #expect(child.delivered.last == "AppTerminating")
    }

    @Test("A backend that hangs delays the end by at most the grace time")
    func hung() throws {
        let child = try Child("hung", "grace", "300")
        let begun = Date()
        child.send(SIGTERM)
        // Without the limit it would hang for as long as the backend does.
        child.wait()
        let taken = Date().timeIntervalSince(begun)
        #expect(child.ending == "signal \(SIGTERM)")
        #expect(taken > 0.25, "\(taken) s")
    }

    @Test("The same signal for a second time ends the process immediately")
    func twice() throws {
        let child = try Child("hung", "grace", "60000")
        child.send(SIGTERM)
        usleep(100_000)
        child.send(SIGTERM)
        child.wait()
        #expect(child.ending == "signal \(SIGTERM)")
    }

    @Test("A process that is ended when it becomes ready always delivers")
    func early() throws {
        let runs = ProcessInfo.processInfo.environment["LIFECYCLE_RUNS"].flatMap { Int($0) } ?? 20
        var clean = 0
        for _ in 0..<runs {
            let child = try Child()
            child.send(SIGTERM)
            child.wait()
            if child.ending == "signal \(SIGTERM)", child.delivered.last == "AppTerminating" { clean += 1 }
        }
        #expect(clean == runs)
        print("lifecycle: \(clean) of \(runs) early ends clean")
    }
}
#endif
