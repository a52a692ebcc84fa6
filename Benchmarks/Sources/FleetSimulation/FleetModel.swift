import Foundation
import InstrumentTestKit

/// The viewers of a day, as numbers: who comes when, for how long, and what goes wrong. The same seed gives the same
/// day. Each distribution has its source; "assumption" is ours, chosen so that rare things happen often enough to be
/// seen.
///
/// | what | distribution | source |
/// |---|---|---|
/// | visits of a player a day | 1 and a geometric rest, mean 1.2 | assumption |
/// | arrival over the day | least at 4 h, a first peak at noon, the highest at 21 h | shape as in Yu et al., "Understanding User Behavior in Large-Scale Video-on-Demand Systems" (EuroSys 2006); the 24 weights are an assumption |
/// | intended time of watching | log-normal: 37.4 % below 5 minutes, 52.6 % below 10 minutes | the two shares are from the same paper; the form is an assumption |
/// | length of the content | 60 % clips of 1 to 10 minutes, 30 % of 22 to 45, 10 % of 90 to 110 | assumption |
/// | start time | log-normal, median 0.9 s, σ 0.7 | assumption |
/// | leaving before the start | from 2 s on, 5.8 % of the viewers for each further second | Krishnan and Sitaraman, "Video Stream Quality Impacts Viewer Behavior" (IMC 2012) |
/// | start fails; a play fails | 0.8 %; 0.4 % | assumption |
/// | events of a play | exponential gaps, mean 180 s: 45 % change of rung, 15 % stall, 20 % pause, 20 % seek | assumption |
/// | stall, seek, pause | log-normal, medians 1.2 s, 0.6 s, 40 s, σ 0.9 | assumption |
/// | clocks | ``ClockFault`` | assumption |
struct FleetModel: Sendable {
    let players: Int
    let seed: UInt64

    /// Milliseconds of a day.
    static let day: Int64 = 86_400_000
    /// Viewers that arrive in each hour, relative to each other.
    static let arrivals: [Double] = [
        2.6, 1.6, 1.0, 0.7, 0.6, 0.7, 1.1, 1.9, 2.8, 3.4, 3.8, 4.4, 5.2, 5.0, 4.4, 4.2, 4.4, 5.0, 5.9, 7.0, 8.3, 8.8,
        7.4, 4.8,
    ]
    /// Bitrate, width and height.
    static let rungs: [(bitrate: Int, width: Int, height: Int)] = [
        (400_000, 416, 234), (800_000, 640, 360), (1_600_000, 960, 540), (3_200_000, 1280, 720),
        (6_000_000, 1920, 1080),
    ]

    /// The player's visits, in their order.
    func visits(of player: Int) -> (fault: ClockFault, visits: [Visit]) {
        var chance = Chance(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(player))
        let fault = ClockFault.random(&chance)
        var starts = [chance.instantOfDay()]
        while chance.happens(1.0 / 6) { starts.append(chance.instantOfDay()) }
        var (visits, free) = ([Visit](), Int64(0))
        for start in starts.sorted() {
            let visit = Visit(at: max(start, free), &chance)
            // A viewer watches one film at a time.
            free = visit.end + 60_000
            visits.append(visit)
        }
        return (fault, visits)
    }
}

/// A fault of a player's clock or network.
enum ClockFault: Int, CaseIterable, Sendable {
    case none, offline, seconds, minutes, hour, day, epoch, decade, afterRange

    /// The share of players.
    var share: Double {
        switch self {
        case .none: 0.896
        case .offline: 0.03
        case .seconds: 0.04
        case .minutes: 0.02
        case .hour: 0.007
        case .day: 0.004
        case .epoch: 0.001
        case .decade: 0.001
        case .afterRange: 0.001
        }
    }

    /// The wall time at the beginning of the day, in milliseconds since 1970.
    var wallTime: Int64 {
        // 2026-03-02T00:00:00Z
        let right: Int64 = 1_772_409_600_000
        return switch self {
        case .none, .offline: right
        case .seconds: right + 2_400
        case .minutes: right - 420_000
        case .hour: right + 3_600_000
        case .day: right - 86_400_000
        case .epoch: 0
        case .decade: right + 315_576_000_000
        case .afterRange: 4_102_444_800_000
        }
    }

    static func random(_ chance: inout Chance) -> Self {
        var rest = chance.share()
        for fault in allCases {
            rest -= fault.share
            if rest < 0 { return fault }
        }
        return .none
    }
}

/// Numbers of the distributions.
struct Chance {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// From 0 to below 1.
    mutating func share() -> Double { Double(generator.next() >> 11) / 9_007_199_254_740_992 }
    mutating func happens(_ share: Double) -> Bool { self.share() < share }
    mutating func number(_ range: Range<Int>) -> Int { range.lowerBound + Int(share() * Double(range.count)) }
    mutating func exponential(mean: Double) -> Double { -mean * log(1 - share()) }

    mutating func logNormal(median: Double, deviation: Double) -> Double {
        // Box and Muller.
        let normal = (-2 * log(1 - share())).squareRoot() * cos(2 * .pi * share())
        return median * exp(deviation * normal)
    }

    /// Milliseconds since midnight.
    mutating func instantOfDay() -> Int64 {
        var rest = share() * FleetModel.arrivals.reduce(0, +)
        for (hour, weight) in FleetModel.arrivals.enumerated() {
            if rest < weight { return Int64((Double(hour) + rest / weight) * 3_600_000) }
            rest -= weight
        }
        return FleetModel.day - 1
    }
}
