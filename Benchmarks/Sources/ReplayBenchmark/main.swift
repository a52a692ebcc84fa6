// How many recorded events a second are read, and computed into sessions again, and the memory that takes.
//
//   ReplayBenchmark [COUNT]     (default 1,000,000 events of sessions of 100 events each, about 1 kB an event)
//   ReplayBenchmark FILE [read | divide | compute]     (a recording that is there; one part alone, for a profiler)
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
    var recorder = Recorder()
    var pending: [SampleRecord] = []
    for number in 0..<count {
        let sample = Sample.event(recorder.event(number))
        pending.append(
            SampleRecord(id: SampleID(log: log, sequence: UInt64(number)), sequence: UInt64(number), sample: sample)
        )
        if pending.count == 10_000 || number == count - 1 {
            try handle.write(contentsOf: Data(JSONLines.encode(pending)))
            pending.removeAll(keepingCapacity: true)
        }
    }
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

/// Measures the parts: reading, dividing into sessions and computing into metrics.
func measureParts(_ path: String, _ part: String?) throws {
    if part == nil || part == "read" { try measure("read", path) { _ in } }
    if part == nil || part == "divide" {
        var sessions = SessionReader()
        var closed = 0
        try measure("read and divided into sessions", path) { closed += sessions.observe($0).closed.count }
        print("\(closed) sessions")
    }
    if part == nil || part == "compute" {
        var metricalc = QualityMetricalc()
        var metrics: [Metric] = []
        var made = 0
        try measure("read and computed into metrics", path) {
            metrics.removeAll(keepingCapacity: true)
            metricalc.process($0, into: &metrics)
            made += metrics.count
        }
        print("\(made) metrics")
    }
}

func measureAll(_ count: Int) throws {
    let path = NSTemporaryDirectory() + "replay-benchmark.ndjson"
    try write(count, to: path)
    print(path)
    print("after writing: peak \(peakMemory()) MiB")
    try measureParts(path, nil)
    try measureDuckDB(path)
}

let arguments = CommandLine.arguments.dropFirst()
if let path = arguments.first, Int(path) == nil {
    try measureParts(path, arguments.dropFirst().first)
} else {
    try measureAll(arguments.first.flatMap { Int($0) } ?? 1_000_000)
}
