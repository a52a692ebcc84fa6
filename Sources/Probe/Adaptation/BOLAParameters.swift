internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// BOLA's map from what is buffered to a bitrate.
///
/// Spiteri, Urgaonkar, Sitaraman: "BOLA: Near-Optimal Bitrate Adaptation for Online Videos", INFOCOM 2016
/// (arXiv:1601.06748): of the rungs m with bitrates S and utilities v = ln(S ÷ S₁), that with the largest
/// (V (v + γp) − Q) ÷ S is fetched. Here Q and V are in seconds instead of segments, so `scale` is V × p.
public struct BOLAParameters: Hashable, Sendable {
    /// V × p, seconds.
    public let scale: Double
    /// γ × p.
    public let gammaP: Double
    /// bit/s, from the lowest.
    public let bitrates: [Double]
    /// ln(S ÷ S₁).
    public let utilities: [Double]

    /// As in the paper: γp is given, and V such that the highest rung's score is zero when one more segment fills the
    /// buffer: V p = (buffer − segment) ÷ (v + γp). INFOCOM 2016, section V; Sabre, `Bola`.
    ///
    /// - Parameters:
    ///   - bitrates: bit/s, above zero, from the lowest; nil comes back if there are fewer than two different ones.
    ///   - buffer: the most that is buffered.
    ///   - segment: a segment's duration.
    ///   - gammaP: how much a stall weighs against quality; 5 in the paper's comparisons.
    public init?(bitrates: [Double], buffer: Duration, segment: Duration, gammaP: Double = 5) {
        guard let utilities = Self.utilities(of: bitrates), let top = utilities.last else { return nil }
        let gammaP = gammaP.isFinite ? max(gammaP, 0) : 5
        // A buffer of no more than a segment leaves nothing to decide by.
        let room = max((buffer - segment).seconds, 1e-3)
        self.init(scale: room / (top + gammaP), gammaP: gammaP, bitrates: bitrates, utilities: utilities)
    }

    /// As in dash.js and BOLA-E: the level that a rung is fetched up to runs from `minimum` for the lowest to `target`
    /// for the highest.
    ///
    /// V p = (target − minimum) ÷ v and γp = minimum ÷ (V p), with utilities from zero. dash.js, `BolaRule`,
    /// `calculateBolaParameters`, which writes it with utilities from 1 and γp larger by as much.
    ///
    /// - Parameters:
    ///   - bitrates: bit/s, above zero, from the lowest; nil comes back if there are fewer than two different ones.
    ///   - minimum: with less than this buffered, fetching never waits.
    ///   - target: with more than this buffered, fetching always waits; at least a second more than `minimum`.
    public init?(bitrates: [Double], minimum: Duration, target: Duration) {
        guard let utilities = Self.utilities(of: bitrates), let top = utilities.last else { return nil }
        let low = max(minimum.seconds, 1e-3)
        let scale = max(target.seconds - low, 1) / top
        self.init(scale: scale, gammaP: low / scale, bitrates: bitrates, utilities: utilities)
    }

    private init(scale: Double, gammaP: Double, bitrates: [Double], utilities: [Double]) {
        self.scale = scale
        self.gammaP = gammaP
        self.bitrates = bitrates
        self.utilities = utilities
    }

    private static func utilities(of bitrates: [Double]) -> [Double]? {
        guard let first = bitrates.first, let last = bitrates.last, first > 0, last > first, last.isFinite else {
            return nil
        }
        return bitrates.map { log(max($0, first) / first) }
    }
}

extension BOLAParameters {
    /// (V (v + γp) − Q) ÷ S: what fetching a rung is worth with `level` seconds buffered.
    public func score(_ rung: Int, level: Double) -> Double {
        guard bitrates.indices.contains(rung) else { return -.infinity }
        return (maximumLevel(rung) - level) / bitrates[rung]
    }

    /// The rung of the largest score with `level` seconds buffered; of equals the higher one, as dash.js
    /// has it.
    public func rung(level: Double) -> Int {
        var best = 0
        var bestScore = -Double.infinity
        for rung in bitrates.indices {
            let score = score(rung, level: level)
            if score >= bestScore { (best, bestScore) = (rung, score) }
        }
        return best
    }

    /// The level above which it is better to fetch nothing than this rung: V (v + γp), seconds.
    public func maximumLevel(_ rung: Int) -> Double {
        utilities.indices.contains(rung) ? scale * (utilities[rung] + gammaP) : 0
    }

    /// The least level, in seconds, at which this rung is preferred to all lower ones:
    /// V (γp + (S v′ − S′ v) ÷ (S − S′)), the largest over the lower rungs S′.
    public func minimumLevel(_ rung: Int) -> Double {
        guard bitrates.indices.contains(rung) else { return 0 }
        var level = 0.0
        for lower in 0..<rung where bitrates[lower] < bitrates[rung] {
            let crossing =
                (bitrates[rung] * utilities[lower] - bitrates[lower] * utilities[rung])
                / (bitrates[rung] - bitrates[lower])
            level = max(level, scale * (gammaP + crossing))
        }
        return level
    }
}
