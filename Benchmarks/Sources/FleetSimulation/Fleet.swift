import Foundation
import Instrument
import InstrumentQuality
import InstrumentTestKit

/// The players of a shard in one run of their process: an instrument for each fault of clocks, which differ in their
/// clocks.
final class Fleet {
    /// What players with one kind of clock share.
    struct Group {
        let clock: FleetClock
        let instrument: Instrument
    }

    private let plan: Plan
    private var groups: [ClockFault: Group] = [:]
    private var trackers: [Int: TrackerID] = [:]

    /// - Parameters:
    ///   - makeInstrument: creates the instrument of a group with its clock and randomness.
    init(
        _ plan: Plan,
        _ model: FleetModel,
        shard: Shard,
        run: Int,
        makeInstrument: (ClockFault, FleetClock, RandomSource) throws -> Instrument
    ) rethrows {
        self.plan = plan
        for fault in ClockFault.allCases {
            let clock = FleetClock(start: fault.wallTime)
            let place = UInt64(run * 16 + fault.rawValue)
            let seed = (model.seed &* 1_000_003 &+ UInt64(shard.number)) &* 1_000_003 &+ place
            let randomness = RandomSource(DriverRandomness(seed: seed))
            groups[fault] = Group(clock: clock, instrument: try makeInstrument(fault, clock, randomness))
        }
    }

    var instruments: [Instrument] { ClockFault.allCases.compactMap { groups[$0]?.instrument } }

    /// Takes the steps of a range, without those of visits that a kill has cut before.
    ///
    /// - Parameters:
    ///   - kills: the steps in which earlier runs were killed.
    ///   - begin: receives the position of each step before it is taken.
    func take(_ range: Range<Int>, kills: [Int], begin: (Int) -> Void) {
        let clocks = ClockFault.allCases.compactMap { groups[$0]?.clock }
        if let first = plan.steps[range].first { for clock in clocks { clock.advance(to: first.time) } }
        for position in range {
            let step = plan.steps[position]
            if kills.contains(where: { plan.isCut(step.visit, at: $0) }) { continue }
            begin(position)
            for clock in clocks { clock.advance(to: step.time) }
            take(step)
        }
    }

    private func take(_ step: Plan.Step) {
        let visit = plan.visits[step.visit]
        guard let instrument = groups[visit.fault]?.instrument else { return }
        if case .open = step.deed {
            let tracker = instrument.add(SilentTracker())
            trackers[step.visit] = tracker
            for action in [Action.trackerInit, .playerSet, .playerReady] { instrument.emit(action, from: tracker) }
            return
        }
        guard let tracker = trackers[step.visit] else { return }
        switch step.deed {
        case .open: break
        case .emit(let action):
            var attributes: Attributes = [:]
            if action == .mediaRequest {
                attributes = [
                    "title": .string("film \(visit.player % 997)"), "player": .int(visit.player),
                    "visit": .int(visit.number),
                    "source": .string("https://media.example.org/\(visit.player % 997)/index.m3u8"),
                ]
            }
            instrument.emit(action, from: tracker, attributes: attributes)
        case .show(let action, let rung):
            let shown = FleetModel.rungs[rung]
            let attributes: Attributes = [
                "bitrate": .int(shown.bitrate), "resolutionWidth": .int(shown.width),
                "resolutionHeight": .int(shown.height),
            ]
            instrument.emit(action, from: tracker, attributes: attributes)
        case .fail:
            let code = ["notFound", "timeout", "decode"][visit.player % 3]
            instrument.emit(.error, from: tracker, attributes: ["isFatal": true, "errorCode": .string(code)])
        case .close:
            instrument.remove(tracker)
            trackers[step.visit] = nil
        }
    }
}

final class SilentTracker: Tracker {
    func begin(in context: TrackerContext) {}
}

/// The identifiers of a run come from its seed. Retries, on other threads, draw from the system, so that the order of
/// their threads changes no identifier.
struct DriverRandomness: RandomNumberGenerator, Sendable {
    private var seeded: SeededGenerator
    private let driver = pthread_self()

    init(seed: UInt64) { seeded = SeededGenerator(seed: seed) }

    mutating func next() -> UInt64 {
        if pthread_equal(pthread_self(), driver) != 0 { return seeded.next() }
        var system = SystemRandomNumberGenerator()
        return system.next()
    }
}
