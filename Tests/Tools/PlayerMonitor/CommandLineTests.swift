import Foundation
import Instrument
import InstrumentBackends
import LoopbackServers
import TestTraits
import Testing

/// The output and the exit status of a run of `player-monitor`.
struct Run {
    var output: String
    var errors: String
    var status: Int32

    /// Runs it to its end; `whileRunning` is called with the process and with a function that waits until it has said
    /// something.
    static func playerMonitor(
        _ arguments: String...,
        environment: [String: String] = [:],
        whileRunning body: ((Process, (String) -> Void) -> Void)? = nil
    ) throws -> Run {
        try playerMonitor(arguments, environment: environment, whileRunning: body)
    }

    /// Runs the command in `directory`, with its standard output in `outputPath` if given.
    static func playerMonitor(
        _ arguments: [String],
        environment: [String: String] = [:],
        directory: String? = nil,
        outputPath: String? = nil,
        whileRunning body: ((Process, (String) -> Void) -> Void)? = nil
    ) throws -> Run {
        let (process, output, errors) = (Process(), Pipe.forChild(), Pipe.forChild())
        process.executableURL = URL(fileURLWithPath: Sample.playerMonitor)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        process.standardOutput = try outputPath.map { try FileHandle(forWritingTo: URL(fileURLWithPath: $0)) } ?? output
        if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.start()
        var said = Data()
        body?(process) { text in
            while !String(decoding: said, as: UTF8.self).contains(text) {
                let more = output.fileHandleForReading.availableData
                if more.isEmpty { return }
                said += more
            }
        }
        if outputPath == nil { said += output.fileHandleForReading.readDataToEndOfFile() }
        let complaints = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Run(
            output: String(decoding: said, as: UTF8.self),
            errors: String(decoding: complaints, as: UTF8.self),
            status: process.terminationStatus
        )
    }
}

// Serialized, because a process that starts at the same time would inherit these pipes and keep them open.
@Suite("player-monitor", .earlyOnOwnThread, .serialized)
struct CommandLineTests {
    @Test("Playback at maximum speed gives exit code 0, the session on standard output and a summary on standard error")
    func played() throws {
        let run = try Run.playerMonitor("play", "--speed", "max", Sample.path)
        #expect(run.status == 0)
        for name in ["TrackerInit", "Start ", "QualityChangeUp", "QualityChangeDown", "End ", "StartTime  = 0 ms"] {
            #expect(run.output.contains(name))
        }
        #expect(!run.output.contains("\u{1B}"))
        #expect(run.errors.contains("played to its end"))
        #expect(run.errors.contains("quality changes  1 up, 1 down"))
    }

    @Test("JSON lines and files have the same samples; --quiet prints nothing")
    func backends() throws {
        let directory = NSTemporaryDirectory() + "player-monitor-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (plain, packed) = (directory + "/s.ndjson", directory + "/s.ndjson.gz")
        let run = try Run.playerMonitor(
            "play",
            "-q",
            "--speed",
            "max",
            "--title",
            "Film",
            "--backend",
            "json",
            "--backend",
            "file:" + plain,
            "--backend",
            "file:" + packed,
            Sample.path
        )
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        #expect(try String(contentsOfFile: plain, encoding: .utf8) == run.output)
        var reader = try SampleFileReader(path: packed)
        var count = 0
        while let record = try reader.next() {
            count += 1
            guard case .event(let event) = record.sample else { continue }
            #expect(event[.title] == "Film")
        }
        #expect(count == run.output.split(separator: "\n").count)
    }

    @Test("Labels and the location of the command line are in every sample, events and metrics alike")
    func labels() throws {
        let run = try Run.playerMonitor(
            ["play", "-q", "--speed", "max", "--backend", "json", "--label", "cdn=alpha", "--label", "title=a=b"]
                + ["--location", "oslo", Sample.path]
        )
        #expect(run.status == 0 && run.errors.isEmpty)
        let samples = try run.output.split(separator: "\n").map { try JSONLines.decode(Array($0.utf8)).sample }
        #expect(samples.contains { if case .metric = $0 { true } else { false } })
        for sample in samples {
            #expect(sample.attributes["monitorLabels"] == ["cdn": "alpha", "title": "a=b"])
            #expect(sample.attributes["monitorLocation"] == "oslo")
        }
        #expect(samples.contains { $0.attributes["playerProfile"] == "standard" })
    }

    @Test(
        "An unplayable source gives exit code 1 and a clear message",
        arguments: [
            ("/nowhere/film.mp4", "there is no such file"), ("/tmp", "this is a directory"),
            ("ftp://example.invalid/film.mp4", "ftp is not played"),
            ("http://127.0.0.1:9/film.mp4", "refused the connection"),
        ]
    )
    func failed(source: String, message: String) throws {
        let run = try Run.playerMonitor("play", source)
        #expect(run.status == 1)
        #expect(run.errors.contains(message))
        #expect(run.output.contains("Error"))
    }

    @Test(
        "Wrong arguments give exit code 2 and a message without the usage",
        arguments: [
            ["play"], ["play", "--speed", "slow", "x"], ["play", "--duration", "-1", "x"],
            ["play", "--backend", "fax", "x"],
            ["play", "--backend", "json", "--backend", "console", "x"], ["dance"],
            ["play", "--backend", "file:/proc/no/s", "x"], ["play", "--label", "cdn", "x"],
            ["play", "--label", "c-d=x", "x"], ["play", "--label", "a=b", "--label", "a=c", "x"],
            ["play", "--location", "", "x"], ["play", "--header", "Host: a", "x"],
            ["check", "--header", "content-length: 5", "http://x/"], ["watch", "--header", "TE: a", "x"],
            ["check", "--header", "Proxy-Authorization: a", "http://x/"],
            ["check", "--header", "Range: a", "http://x/"],
        ]
    )
    func wrongUse(arguments: [String]) throws {
        let process = Process()
        let errors = Pipe.forChild()
        process.executableURL = URL(fileURLWithPath: Sample.playerMonitor)
        process.arguments = arguments
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        try process.start()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 2)
        #expect(text.hasPrefix("Error: ") || text.hasPrefix("player-monitor: "))
        #expect(!text.contains("sage:") && text.split(separator: "\n").count <= 2, "\(text)")
    }

    @Test("Help gives exit code 0")
    func help() throws {
        let run = try Run.playerMonitor("play", "--help")
        #expect(run.status == 0)
        #expect(run.output.contains("--speed"))
    }

    @Test("Ctrl-C ends a playback with Stop, delivers all samples and gives exit code 0", arguments: [SIGINT, SIGTERM])
    func stopped(signal: Int32) throws {
        let run = try Run.playerMonitor("play", "--backend", "json", Sample.path) { process, wait in
            wait("\"Start\"")
            kill(process.processIdentifier, signal)
        }
        #expect(run.status == 0)
        let last = run.output.split(separator: "\n").last ?? ""
        #expect(last.contains("\"action\":\"Stop\""))
        #expect(run.errors.contains("stopped"))
    }

    @Test("Playback stops after --duration")
    func duration() throws {
        let run = try Run.playerMonitor("play", "--speed", "max", "--duration", "5", Sample.path)
        #expect(run.status == 0)
        #expect(run.output.contains("Stop  position=5000"))
    }

    @Test("The durable queue of a killed run can be listed, verified, exported and delivered")
    func durableQueue() throws {
        let directory = NSTemporaryDirectory() + "player-monitor-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (queue, file) = (directory + "/queue", directory + "/delivered/samples.ndjson")
        let killed = try Run.playerMonitor(
            "play",
            "-q",
            "--queue",
            queue,
            "--backend",
            "json",
            "--backend",
            "file:" + file,
            Sample.path
        ) { process, wait in
            wait("PlayerReady")
            // From now on nothing can be delivered to the file.
            try? FileManager.default.removeItem(atPath: directory + "/delivered")
            #expect(FileManager.default.createFile(atPath: directory + "/delivered", contents: nil))
            // Seconds later, so that a busy machine does not make this the last thing that was delivered.
            wait("QualityChangeDown")
            kill(process.processIdentifier, SIGKILL)
        }
        #expect(killed.status == SIGKILL)
        try FileManager.default.removeItem(atPath: directory + "/delivered")

        let before = try Self.contents(queue)
        let status = try Run.playerMonitor("queue", "status", queue)
        #expect(status.status == 0)
        // The run's own summary has no queue.
        #expect(!status.output.contains("summary"))
        let line = status.output.split(separator: "\n").first { $0.hasPrefix("file:") } ?? ""
        let columns = line.split(separator: "\t").compactMap { Int($0) }
        #expect(columns.count == 6 && columns[2] > 0, "\(status.output)")
        #expect(try Run.playerMonitor("queue", "verify", queue).status == 0)
        let exported = try Run.playerMonitor("queue", "export", queue, "--backend", "file:" + file)
        #expect(exported.output.split(separator: "\n").count == columns[2])
        #expect(try Run.playerMonitor("queue", "dead", queue).status == 0)
        // Looking changes nothing and creates nothing.
        #expect(try Self.contents(queue) == before)
        #expect(try Run.playerMonitor("queue", "flush", queue, "--backend", "file:" + file).status == 0)
        for timeout in ["inf", "nan", "1e30", "-1"] {
            let flush = ["queue", "flush", queue, "--backend", "file:" + file, "--timeout=" + timeout]
            #expect(try Run.playerMonitor(flush).status == 2)
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == exported.output)
        #expect(try Run.playerMonitor("queue", "status", directory).status == 2)
    }

    /// Every file in a directory with its contents.
    private static func contents(_ directory: String) throws -> [String: Data] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: directory)
        return Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name, FileManager.default.contents(atPath: directory + "/" + name) ?? Data())
            }
        )
    }
}
