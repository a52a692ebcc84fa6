internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// BOLA's map from the buffer level to a bitrate.
///
/// Spiteri, Urgaonkar, Sitaraman: "BOLA: Near-Optimal Bitrate Adaptation for Online Videos", INFOCOM 2016
/// (arXiv:1601.06748): of the rungs m with bitrates S and utilities v = ln(S ÷ S₁), BOLA fetches the one with the
/// largest (V (v + γp) − Q) ÷ S. Here Q and V are in seconds instead of segments, so `scale` is V × p.
package struct BOLAParameters: Hashable, Sendable {
    /// V × p, seconds.
    package let scale: Double
    /// γ × p.
    package let gammaP: Double
    /// bit/s, from the lowest.
    package let bitrates: [Double]
    /// ln(S ÷ S₁).
    package let utilities: [Double]
    /// What ``maximumLevel(_:)`` and ``minimumLevel(_:)`` add to each utility; 0 in the paper.
    package let levelOffset: Double

    /// As in the paper: γp is given, and V such that the highest rung's score is zero when one more segment fills the
    /// buffer: V p = (buffer − segment) ÷ (v + γp). INFOCOM 2016, section V; Sabre, `Bola`.
    ///
    /// - Parameters:
    ///   - bitrates: bit/s, above zero, from the lowest; the result is nil with fewer than two different bitrates.
    ///   - buffer: the maximum buffer level.
    ///   - segment: a segment's duration.
    ///   - gammaP: the weight of a stall against quality; 5 in the paper's comparisons.
    package init?(bitrates: [Double], buffer: Duration, segment: Duration, gammaP: Double = 5) {
        guard let utilities = Self.utilities(of: bitrates), let top = utilities.last else { return nil }
        let gammaP = gammaP.isFinite ? max(gammaP, 0) : 5
        // A buffer of at most one segment gives no range of levels.
        let room = max((buffer - segment).seconds, 1e-3)
        self.init(scale: room / (top + gammaP), gammaP: gammaP, bitrates: bitrates, utilities: utilities)
    }

    /// As in dash.js and BOLA-E: the level up to which a rung is fetched ranges from `minimum` for the lowest rung to
    /// `target` for the highest.
    ///
    /// V p = (target − minimum) ÷ v and γp = minimum ÷ (V p), with utilities from zero.
    ///
    /// dash.js, src/streaming/rules/abr/BolaRule.js, has utilities from 1. Its score takes the 1 off again (line 313);
    /// the levels of a rung (lines 329 and 431) do not, so that all of them are larger by V p: a `levelOffset` of 1.
    ///
    /// - Parameters:
    ///   - bitrates: bit/s, above zero, from the lowest; the result is nil with fewer than two different bitrates.
    ///   - minimum: the buffer level below which fetching never waits.
    ///   - target: the buffer level above which fetching always waits; at least a second above `minimum`.
    ///   - levelOffset: what the levels of a rung add to its utility.
    package init?(bitrates: [Double], minimum: Duration, target: Duration, levelOffset: Double = 0) {
        guard let utilities = Self.utilities(of: bitrates), let top = utilities.last else { return nil }
        let low = max(minimum.seconds, 1e-3)
        let scale = max(target.seconds - low, 1) / top
        self.init(
            scale: scale,
            gammaP: low / scale,
            bitrates: bitrates,
            utilities: utilities,
            levelOffset: levelOffset.isFinite ? max(levelOffset, 0) : 0
        )
    }

    private init(
        scale: Double,
        gammaP: Double,
        bitrates: [Double],
        utilities: [Double],
        levelOffset: Double = 0
    ) {
        self.scale = scale
        self.gammaP = gammaP
        self.bitrates = bitrates
        self.utilities = utilities
        self.levelOffset = levelOffset
    }

    private static func utilities(of bitrates: [Double]) -> [Double]? {
        guard let first = bitrates.first, let last = bitrates.last, first > 0, last > first, last.isFinite else {
            return nil
        }
        return bitrates.map { log(max($0, first) / first) }
    }
}

extension BOLAParameters {
    /// Returns the score of a rung with `level` seconds buffered: (V (v + γp) − Q) ÷ S.
    package func score(_ rung: Int, level: Double) -> Double {
        guard bitrates.indices.contains(rung) else { return -.infinity }
        return (scale * (utilities[rung] + gammaP) - level) / bitrates[rung]
    }

    /// Returns the rung with the largest score at `level` seconds; of equal scores the higher rung, as in dash.js.
    package func rung(level: Double) -> Int {
        var best = 0
        var bestScore = -Double.infinity
        for rung in bitrates.indices {
            let score = score(rung, level: level)
            if score >= bestScore { (best, bestScore) = (rung, score) }
        }
        return best
    }

    /// Returns the level above which fetching nothing is better than fetching this rung: V (v + γp), seconds, plus the
    /// offset.
    package func maximumLevel(_ rung: Int) -> Double {
        utilities.indices.contains(rung) ? scale * (utilities[rung] + gammaP + levelOffset) : 0
    }

    /// Returns the lowest level, in seconds, at which this rung is preferred to all lower rungs:
    /// V (γp + (S v′ − S′ v) ÷ (S − S′)), the largest over the lower rungs S′, plus the offset.
    package func minimumLevel(_ rung: Int) -> Double {
        guard bitrates.indices.contains(rung) else { return 0 }
        var level = 0.0
        for lower in 0..<rung where bitrates[lower] < bitrates[rung] {
            let crossing =
                (bitrates[rung] * utilities[lower] - bitrates[lower] * utilities[rung])
                / (bitrates[rung] - bitrates[lower])
            level = max(level, scale * (gammaP + levelOffset + crossing))
        }
        return level
    }
}
