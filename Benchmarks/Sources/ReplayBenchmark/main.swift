// How many recorded events a second are read, and computed into sessions again, and the memory that takes.
//
//   ReplayBenchmark [COUNT]     (default 1,000,000 events of sessions of 100 events each, about 1 kB an event)
//
// Rates are events per second of this process's CPU time, which a busy machine disturbs less than the clock on the
// wall. DuckDB then runs the query from-events/PlayTime.sql over the same file on one thread
// (scripts/install-sql-engines.sh installs it; else skipped).

import CMeasure
import Foundation
import Instrument
import InstrumentBackends
import InstrumentQuality

/// Writes events of a hundred each session, eight sessions at the same time.
func write(_ count: Int, to path: String) throws {
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    defer { try? handle.close() }
    let log = UInt64(0x1234_5678)
    var pending: [SampleRecord] = []
    for number in 0..<count {
        let (session, step) = (number / 800 * 8 + number % 8, number % 800 / 8)
        let sample = Sample.event(event(session, step, at: Int64(number)))
        pending.append(
            SampleRecord(id: SampleID(log: log, sequence: UInt64(number)), sequence: UInt64(number), sample: sample)
        )
        if pending.count == 10_000 || number == count - 1 {
            try handle.write(contentsOf: Data(JSONLines.encode(pending)))
            pending.removeAll(keepingCapacity: true)
        }
    }
}

func event(_ session: Int, _ step: Int, at milliseconds: Int64) -> Event {
    let actions: [Action] = [.ping, .bufferBegin, .bufferFinish, .qualityChangeUp, .ping, .qualityChangeDown]
    let action: Action
    switch step {
    case 0: action = .mediaRequest
    case 1: action = .streamLoad
    case 2: action = .start
    case 99: action = .end
    default: action = actions[step % actions.count]
    }
    var attributes: Attributes = [
        "senderId": .string("5EF683BE-0B30-422D-A4E6-690F3D4A7C71-\(session % 8)"), "trackerTarget": "probe",
        "playbackId": .string("49BB59F8-9DE3-4809-A84F-\(100_000_000_000 + session)"),
        "streamId": .string("10F34527-B685-4765-A86D-\(100_000_000_000 + session)"),
        "title": "A film of the evening", "source": "https://media.example.org/films/evening/master.m3u8",
        "inPlaybackBlock": .bool(step > 1), "inPauseBlock": false, "inSeekBlock": false, "inBufferBlock": false,
        "countErrors": 0, "countStarts": 1, "accumPlayTime": .int(step * 1000), "accumBufferTime": .int(step),
        "accumPauseTime": 0, "accumSeekTime": 0, "countRequests": .int(step), "countFailedRequests": 0,
        "receivedBytes": .int(step * 250_000), "throughput": .int(4_000_000 + step * 1000),
    ]
    for (index, action) in [Action.trackerInit, .playerSet, .mediaRequest, .streamLoad, .bufferBegin, .start]
        .enumerated()
    {
        attributes[action.timeKey] = step * 1000 + index
    }
    if step > 1 {
        attributes[.bitrate] = 400_000 + step % 4 * 600_000
        attributes[.resolutionWidth] = 640
        attributes[.resolutionHeight] = 360
        attributes[.fps] = 23.976023976023978
        attributes[.position] = .milliseconds(step * 1000)
        attributes["deltaPlayTime"] = .int(1000)
    }
    let time = Timestamp(
        instant: MonotonicInstant(nanoseconds: milliseconds * 1_000_000),
        wallTime: WallTime(milliseconds: 1_795_353_396_000 + milliseconds)
    )
    return Event(action, tracker: TrackerID(session % 8), time: time, attributes: attributes)
}

/// The largest resident memory of this process so far, in MiB; 0 where the system does not say.
func peakMemory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
    return (line?.split(separator: " ").dropFirst().first).flatMap { Int($0) }.map { $0 / 1024 } ?? 0
}

func measure(_ what: String, _ path: String, _ use: (Event) -> Void) throws {
    var reader = try SampleFileReader(path: path)
    let (start, processor, instructions) = (ContinuousClock.now, clock(), measure_instructions())
    var count = 0
    while let record = try reader.next() {
        count += 1
        if case .event(let event) = record.sample { use(event) }
    }
    let used = measure_instructions() - instructions
    let processorSeconds = Double(clock() - processor) / Double(CLOCKS_PER_SEC)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let rate = Int(Double(count) / max(processorSeconds, 1e-9))
    print(
        "\(what): \(count) events in \(processorSeconds) s of CPU (\(seconds) s), \(rate) events/s, "
            + "\(used / Int64(max(1, count))) instructions each, peak \(peakMemory()) MiB"
    )
}

/// Runs DuckDB over the file, if it is installed below the current directory.
func measureDuckDB(_ path: String) throws {
    let python = ".build/sql/bin/python"
    guard FileManager.default.isExecutableFile(atPath: python) else {
        return print("DuckDB: not installed in \(python); run scripts/install-sql-engines.sh")
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = ["scripts/measure-duckdb.py", path, "from-events/PlayTime.sql"]
    try process.run()
    process.waitUntilExit()
}

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000_000
let path = NSTemporaryDirectory() + "replay-benchmark.ndjson"
try write(count, to: path)
print(path)
print("after writing: peak \(peakMemory()) MiB")
try measure("read", path) { _ in }
var sessions = SessionReader()
var closed = 0
try measure("read and divided into sessions", path) { closed += sessions.observe($0).closed.count }
var metricalc = QualityMetricalc()
var metrics: [Metric] = []
try measure("read and computed into metrics", path) {
    metrics.removeAll(keepingCapacity: true)
    metricalc.process($0, into: &metrics)
}
print("\(closed) sessions")
try measureDuckDB(path)
