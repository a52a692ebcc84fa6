#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// How much more work costs when its input grows sixteenfold: about 16 times if the cost is linear, up to 256 times if
/// it is quadratic. The step is that large because a quadratic part is small at first: only in a large input it
/// outweighs the linear one.
///
/// Cost is the processor time of the thread, so that other threads and a busy machine count for little. A ratio that is
/// too large is measured again, and the smallest counts: a disturbance passes, and quadratic cost does not.
public struct CostGrowth: Sendable, CustomStringConvertible {
    /// How many times larger the larger input is.
    public static let factor = 16
    /// Above this the cost is not linear: a little more than twice what linear cost gives.
    public static let limit = 34.0

    private static let rounds = 5

    /// The cost of the larger input over that of the smaller one.
    public let ratio: Double
    /// The costs of the smaller and the larger input, in seconds.
    public let costs: (smaller: Double, larger: Double)

    /// Whether the cost grows with the size of the input and not with its square.
    public var isLinear: Bool { ratio < Self.limit }

    /// The ratio and both costs.
    public var description: String {
        "\(ratio.rounded()) times the cost for \(Self.factor) times the input (\(costs.smaller) s, \(costs.larger) s)"
    }

    /// Measures work on inputs of a size and of ``factor`` times the size.
    /// - Parameters:
    ///   - size: of the smaller input. Choose one with which the work takes some milliseconds in a debug build.
    ///   - make: makes an input; not measured.
    ///   - work: the measured work. Synchronous, because a task may change its thread.
    public static func measure<Input>(
        from size: Int,
        making make: (Int) throws -> Input,
        _ work: (Input) throws -> Void
    ) rethrows -> CostGrowth {
        let (small, large) = (try make(size), try make(factor * size))
        var best: CostGrowth?
        for _ in 0..<rounds {
            let smaller = try cost(runs: 3) { try work(small) }
            let larger = try cost(runs: 1) { try work(large) }
            // The clock's own step is far below.
            let growth = CostGrowth(ratio: larger / max(smaller, 1e-6), costs: (smaller, larger))
            if growth.ratio < best?.ratio ?? .infinity { best = growth }
            if growth.isLinear { break }
        }
        return best ?? CostGrowth(ratio: .infinity, costs: (0, 0))
    }

    /// The cheapest of several runs: any disturbance raises the cost of a run.
    private static func cost(runs: Int, _ work: () throws -> Void) rethrows -> Double {
        var least = Double.infinity
        for _ in 0..<runs {
            let start = processorTime
            try work()
            least = min(least, processorTime - start)
        }
        return least
    }

    /// The processor time that this thread has taken, in seconds.
    package static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
