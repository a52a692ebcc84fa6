// The durable queue beside raw limits, in one run: a write(2) an event, and GRDB with one insert a transaction.
//
//   QueueBenchmark [COUNT]

import Foundation
import GRDB
import Instrument
import InstrumentDurableQueue

let count = CommandLine.arguments.dropFirst().compactMap { Int($0) }.first ?? 200_000
let directory =
    (ProcessInfo.processInfo.environment["BENCHMARK_DIRECTORY"] ?? NSTemporaryDirectory())
    + "/queue-benchmark-\(getpid())"

func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

func sample(_ number: Int) -> Sample {
    var attributes = Attributes(minimumCapacity: 25)
    for index in 0..<25 { attributes[names[index]] = index % 2 == 0 ? .int(number &+ index) : .string("a value") }
    return .event(Event(.ping, tracker: TrackerID(0), time: SystemClock().timestamp, attributes: attributes))
}

let names = (0..<25).map { AttributeName("custom\($0)") }
/// As large as what the store writes for one of these samples.
let row = [UInt8](repeating: 0x61, count: 400)

/// Microseconds an event.
func measure(_ events: Int, _ body: (Int) throws -> Void) rethrows -> Double {
    let start = nanoseconds()
    for number in 0..<events { try body(number) }
    return Double(nanoseconds() - start) / Double(events) / 1000
}

func rawWrites(_ events: Int, syncEvery: Int? = nil) throws -> Double {
    let file = open(directory + "/raw-\(syncEvery ?? 0)", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(file) }
    return measure(events) { number in
        _ = write(file, row, row.count)
        if let syncEvery, number % syncEvery == syncEvery - 1 { fdatasync(file) }
    }
}

func inserts(_ events: Int) throws -> Double {
    var configuration = Configuration()
    configuration.journalMode = .wal
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
    let database = try DatabaseQueue(path: directory + "/rows.sqlite", configuration: configuration)
    try database.write { try $0.execute(sql: "CREATE TABLE sample (id INTEGER PRIMARY KEY, payload BLOB NOT NULL)") }
    let payload = Data(row)
    return try measure(events) { _ in
        try database.write { try $0.execute(sql: "INSERT INTO sample (payload) VALUES (?)", arguments: [payload]) }
    }
}

func appends(_ events: Int, _ synchronization: DurableConfiguration.Synchronization, _ name: String) throws -> Double {
    let configuration = DurableConfiguration(
        limits: QueueLimits(maxCount: .max, maxBytes: 64 << 30),
        synchronization: synchronization
    )
    let store = try DurableStore(directory: directory + "/" + name, configuration: configuration)
    store.attach("null")
    defer { store.close() }
    // Made before: here the store is measured, not the app's attributes.
    let samples = (0..<1000).map(sample)
    return try measure(events) { number in _ = try store.append([samples[number % 1000]]) }
}

/// The resident size in KiB.
func residentSize() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
    return line.split(separator: " ").compactMap { Int($0) }.first ?? 0
}

func drain(_ events: Int) throws {
    let store = try DurableStore(directory: directory + "/never")
    let before = residentSize()
    var (read, most) = (0, 0)
    let start = nanoseconds()
    while case let records = store.next(for: "null", maxCount: 100, maxBytes: 256 << 10), let last = records.last {
        read += records.count
        store.settle("null", through: last.sequence, dead: [:])
        if read % 10_000 < 100 { most = max(most, residentSize()) }
    }
    let seconds = Double(nanoseconds() - start) / 1e9
    print("draining \(read) samples in batches of 100: \(Int(Double(read) / seconds)) a second,", terminator: " ")
    print("anonymous memory \(before / 1024) MiB before, \(most / 1024) MiB at most")
}

func line(_ name: String, _ time: Double, comparedTo raw: Double) {
    print(name.padding(toLength: 52, withPad: " ", startingAt: 0), String(format: "%8.2f µs  %6.2f×", time, time / raw))
}

do {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let raw = try rawWrites(count)
    print("an event, 25 attributes, about 400 bytes; × is the multiple of one write(2)")
    line("write(2)", raw, comparedTo: raw)
    line("append, synchronized by the system alone", try appends(count, .never, "never"), comparedTo: raw)
    line("append, synchronized within a second", try appends(count, .interval(.seconds(1)), "second"), comparedTo: raw)
    line("append, synchronized with every 100", try appends(count, .count(100), "hundred"), comparedTo: raw)
    line("write(2), fdatasync with every 100", try rawWrites(count / 20, syncEvery: 100), comparedTo: raw)
    line("GRDB, an insert a transaction, WAL, NORMAL", try inserts(count / 20), comparedTo: raw)
    try drain(count)
} catch {
    print("\(error)")
}
try? FileManager.default.removeItem(atPath: directory)
