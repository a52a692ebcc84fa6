internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension BandwidthTrace {
    /// Generated traces, equal on every machine and in every run: steady, steps, a sawtooth, and random walks from
    /// seeds in the manner of 3G, LTE and Wi-Fi. Their figures are round, not measured.
    package static let generated: [BandwidthTrace] = [
        steady, stepDown, stepUp, sawtooth, thirdGeneration(seed: 1), lte(seed: 2), wifi(seed: 3),
    ].compactMap { $0 }

    private static func seconds(_ seconds: Int, _ kilobits: Int, latency: Int = 50) -> Period {
        Period(duration: .seconds(seconds), bitrate: kilobits * 1000, latency: .milliseconds(latency))
    }

    private static let steady = try? BandwidthTrace(name: "steady", periods: [seconds(600, 3000)])
    private static let stepDown = try? BandwidthTrace(
        name: "step-down",
        periods: [seconds(120, 5000), seconds(480, 800)]
    )
    private static let stepUp = try? BandwidthTrace(name: "step-up", periods: [seconds(120, 800), seconds(480, 5000)])
    private static let sawtooth = try? BandwidthTrace(
        name: "sawtooth",
        periods: (0..<60).map { seconds(10, 500 + 500 * ($0 % 10)) }
    )

    /// From 0.2 to 3 Mbit/s in steps between neighbouring states every two seconds, with occasional outages.
    private static func thirdGeneration(seed: UInt64) -> BandwidthTrace? {
        var random = SplitMix64(seed: seed)
        let states = [200, 400, 700, 1000, 1500, 2200, 3000]
        var state = 3
        let periods = (0..<300).map { _ -> Period in
            let draw = random.below(100)
            if draw < 3 { return seconds(2, 0, latency: 150) }
            if draw < 36 { state = max(0, state - 1) } else if draw < 69 { state = min(states.count - 1, state + 1) }
            return seconds(2, states[state], latency: 100)
        }
        return try? BandwidthTrace(name: "3g", periods: periods)
    }

    /// From 1 to 40 Mbit/s, changing by up to a third every second, with a mean of 8 in the long run.
    private static func lte(seed: UInt64) -> BandwidthTrace? {
        var random = SplitMix64(seed: seed)
        var kilobits = 8000.0
        let periods = (0..<600).map { _ -> Period in
            let factor = 0.67 + Double(random.below(83)) / 100
            kilobits = min(40_000, max(1000, kilobits * factor * pow(8000 / kilobits, 0.1)))
            return seconds(1, Int(Int64(clamping: kilobits)), latency: 45)
        }
        return try? BandwidthTrace(name: "lte", periods: periods)
    }

    /// From 4 to 12 Mbit/s, with outages of three to eight seconds about once a minute.
    private static func wifi(seed: UInt64) -> BandwidthTrace? {
        var random = SplitMix64(seed: seed)
        let periods = (0..<300).map { _ -> Period in
            if random.below(30) == 0 { return seconds(3 + random.below(6), 0, latency: 30) }
            return seconds(2, 4000 + 500 * random.below(17), latency: 30)
        }
        return try? BandwidthTrace(name: "wifi", periods: periods)
    }
}

extension SplitMix64 {
    fileprivate mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(max(1, limit))) }
}
