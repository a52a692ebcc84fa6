// A day of virtual players in virtual time, through the library into brokers; and what must have arrived. The script
// scripts/run-fleet.py starts the shards, stops and kills what it can, and compares.
//
//   FleetSimulation produce   --to kafka:HOST:PORT/TOPIC|nats:HOST:PORT/SUBJECT --directory D
//                             [--run R] [--checkpoints C]
//   FleetSimulation reference --runs R --directory D     (D/reference.ndjson, D/unsure.ndjson)
//   FleetSimulation model                                (counts of the plan)
//   All: --players N --seed S --shard I/N

import Foundation
import Instrument
import InstrumentBackends
import InstrumentDurableQueue
import InstrumentKafka
import InstrumentNATS
import InstrumentQuality

struct Usage: Error, CustomStringConvertible { let description: String }

/// The options of the command line.
struct Options {
    let task: String
    private let values: [String: String]

    init(_ arguments: [String]) throws {
        task = arguments.first ?? ""
        var values: [String: String] = [:]
        var rest = arguments.dropFirst()
        while let name = rest.popFirst() {
            guard name.hasPrefix("--"), let value = rest.popFirst() else {
                throw Usage(description: "expected --NAME VALUE (found \(name))")
            }
            values[String(name.dropFirst(2))] = value
        }
        self.values = values
    }

    func text(_ name: String) throws -> String {
        guard let value = values[name] else { throw Usage(description: "--\(name) is missing") }
        return value
    }

    func number(_ name: String, default fallback: Int) throws -> Int {
        guard let value = values[name] else { return fallback }
        guard let number = Int(value), number >= 0 else {
            throw Usage(description: "--\(name) must be a number from 0 (found \(value))")
        }
        return number
    }

    func shard() throws -> Shard {
        let parts = (values["shard"] ?? "0/1").split(separator: "/").compactMap { Int($0) }
        guard parts.count == 2, parts[0] >= 0, parts[0] < parts[1] else {
            throw Usage(description: "--shard must be NUMBER/COUNT, from 0 (found \(values["shard"] ?? ""))")
        }
        return Shard(number: parts[0], count: parts[1])
    }

    func model() throws -> FleetModel {
        FleetModel(players: try number("players", default: 1000), seed: UInt64(try number("seed", default: 1)))
    }
}

func makeBackend(_ target: String) throws -> any Backend {
    let policy = DeliveryPolicy(maxCount: 5000, maxBytes: 4 << 20, maxAge: .seconds(1))
    if target.hasPrefix("kafka:") {
        let configuration = KafkaConfiguration(timeout: .seconds(10), policy: policy)
        return try KafkaBackend(KafkaEndpoint(String(target.dropFirst(6))), configuration: configuration)
    }
    guard target.hasPrefix("nats:") else {
        throw Usage(description: "--to must begin with kafka: or nats: (found \(target))")
    }
    return try NATSBackend(
        NATSEndpoint(String(target.dropFirst(5))),
        configuration: NATSConfiguration(timeout: .seconds(10), policy: policy)
    )
}

/// The steps in which the runs before were killed.
func killedSteps(_ notes: Notes, before run: Int) -> [Int] { (0..<run).map { notes[$0, .begun] - 1 } }

/// The first step of a run after these.
func firstStep(after kills: [Int]) -> Int { (kills.last ?? -1) + 1 }

func produce(_ options: Options) async throws {
    let (model, shard, directory) = (try options.model(), try options.shard(), try options.text("directory"))
    let (run, target) = (try options.number("run", default: 0), try options.text("to"))
    guard run < Notes.mostRuns else { throw Usage(description: "--run must be below \(Notes.mostRuns) (found \(run))") }
    let plan = Plan(model, shard: shard)
    let notes = try Notes(directory + "/notes")
    let network = ReachabilitySwitch(isOnline: false)
    let limits = QueueLimits(maxCount: 100_000_000, maxBytes: 64 << 30)
    var stores: [DurableStore] = []
    let fleet = try Fleet(plan, model, shard: shard, run: run) { fault, clock, randomness in
        let store = try DurableStore(
            directory: directory + "/queue-\(fault)",
            configuration: DurableConfiguration(limits: limits)
        )
        stores.append(store)
        let reachability: any Reachability = fault == .offline ? network : AlwaysOnline()
        return Instrument(
            metricalc: QualityMetricalc(),
            backends: [try makeBackend(target)],
            store: NotingStore(store: store, notes: notes, run: run, isOffline: fault == .offline),
            clock: clock,
            deliveryClock: SystemClock(),
            randomness: randomness,
            reachability: reachability,
            onDiagnostic: { _ in }
        )
    }
    let kills = killedSteps(notes, before: run)
    let first = firstStep(after: kills)
    notes[run, .begun] = first
    let parts = try options.number("checkpoints", default: 0)
    var checkpoints = Checkpoints(count: parts, of: plan.steps.count, from: first)
    fleet.take(first..<plan.steps.count, kills: kills) { position in
        checkpoints.wait(before: position)
        notes[run, .begun] = position + 1
    }
    // After the last event, nothing is cut.
    notes[run, .begun] = plan.steps.count
    let emitting = processorTime()
    network.set(isOnline: true)
    var isEmpty = true
    for instrument in fleet.instruments {
        isEmpty = await instrument.shutdown(timeout: .seconds(1200)) && isEmpty
    }
    var sum = Ledger()
    for store in stores {
        for name in store.backends {
            let ledger = store.ledger(of: name)
            sum.emitted += ledger.emitted
            sum.acknowledged += ledger.acknowledged
            sum.queued += ledger.queued
            sum.dead += ledger.dead
            sum.drops.merge(ledger.drops, uniquingKeysWith: +)
        }
        store.close()
    }
    print(
        "{\"isEmpty\": \(isEmpty), \"emitted\": \(sum.emitted), \"acknowledged\": \(sum.acknowledged), "
            + "\"queued\": \(sum.queued), \"dead\": \(sum.dead), \"dropped\": \(sum.dropped), "
            + "\"seconds\": \(processorTime()), \"emittingSeconds\": \(emitting)}"
    )
}

/// Steps before which the process writes `checkpoint NUMBER` and waits for a line.
struct Checkpoints {
    private var rest: ArraySlice<(number: Int, position: Int)>

    /// - Parameters:
    ///   - count: the parts of the plan.
    ///   - steps: the steps of the plan.
    ///   - first: the first step of this run.
    init(count: Int, of steps: Int, from first: Int) {
        rest = (1..<max(1, count)).map { ($0, $0 * steps / count) }.filter { $0.1 >= first }[...]
    }

    mutating func wait(before position: Int) {
        while let next = rest.first, position >= next.position {
            rest.removeFirst()
            FileHandle.standardOutput.write(Data("checkpoint \(next.number)\n".utf8))
            guard readLine() != nil else { exit(3) }
        }
    }
}

func reference(_ options: Options) throws {
    let (model, shard, directory) = (try options.model(), try options.shard(), try options.text("directory"))
    let runs = try options.number("runs", default: 1)
    let plan = Plan(model, shard: shard)
    let notes = try Notes(directory + "/notes")
    let store = ReferenceStore(
        certain: try file(directory + "/reference.ndjson"),
        unsure: try file(directory + "/unsure.ndjson")
    )
    for run in 0..<runs {
        let isLast = run == runs - 1
        store.begin(limit: isLast ? .max : notes[run, .appends])
        let fleet = Fleet(plan, model, shard: shard, run: run) { _, clock, randomness in
            Instrument(
                metricalc: QualityMetricalc(),
                backends: [NoBackend()],
                store: store,
                clock: clock,
                deliveryClock: SystemClock(),
                randomness: randomness,
                onDiagnostic: { _ in }
            )
        }
        let kills = killedSteps(notes, before: run)
        let first = firstStep(after: kills)
        fleet.take(first..<(isLast ? plan.steps.count : max(first, notes[run, .begun])), kills: kills) { _ in }
    }
    store.flush()
}

func file(_ path: String) throws -> FileHandle {
    guard FileManager.default.createFile(atPath: path, contents: nil), let handle = FileHandle(forWritingAtPath: path)
    else { throw Usage(description: "cannot write \(path)") }
    return handle
}

func describe(_ options: Options) throws {
    let plan = Plan(try options.model(), shard: try options.shard())
    let faults = ClockFault.allCases.map { fault in "\(fault): \(plan.visits.count { $0.fault == fault })" }
    print("\(plan.visits.count) visits, \(plan.steps.count) steps; visits by clock: " + faults.joined(separator: ", "))
}

/// What all threads of this process have used, in seconds.
func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
}

do {
    let options = try Options(Array(CommandLine.arguments.dropFirst()))
    switch options.task {
    case "produce": try await produce(options)
    case "reference": try reference(options)
    case "model": try describe(options)
    default:
        throw Usage(description: "the first argument must be produce, reference or model (found '\(options.task)')")
    }
} catch {
    FileHandle.standardError.write(Data("FleetSimulation: \(error)\n".utf8))
    exit(2)
}
