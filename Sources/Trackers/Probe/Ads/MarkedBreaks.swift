internal import Instrument
internal import InstrumentAds

/// The ad breaks that a stream marks, for `#n` of a schedule: each once, however many carriers signal it and however
/// many ads in it are signalled.
///
/// Breaks that have left a live window are remembered. A begin inside a break, or where one ends, belongs to that
/// break: an ad in a placement opportunity, or the next ad.
struct MarkedBreaks: Hashable, Sendable {
    /// A begin or an end.
    private struct Signal: Hashable {
        var position: Int64
        var isBegin: Bool
        /// Identifies the event; nil for tags without an identifier, whose end ends everything.
        var key: String?
        var duration: Int64?

        /// Whether this signal comes before another one.
        func precedes(_ other: Self) -> Bool {
            (position, isBegin ? 1 : 0) < (other.position, other.isBegin ? 1 : 0)
        }
    }

    /// Signals that are this close, in nanoseconds, are at one position.
    private static let tolerance: Int64 = 1_000_000_000
    /// How many signals are remembered, and how many breaks may be open at a time: a playlist of an attacker can place
    /// any number at one position.
    private static let (most, mostOpen) = (10_000, 64)

    /// A begin or an end of an event in about a second.
    private struct Slot: Hashable {
        var isBegin: Bool
        var key: String?
        var second: Int64
    }

    /// In the order of their positions, the ends of a position first.
    private var signals: [Signal] = []
    private var slots: Set<Slot> = []
    /// The positions at which breaks begin, in order.
    private(set) var positions: [Int64] = []

    /// Adds signals of a stream; what is known already is left out.
    mutating func add(_ found: [AdSignal]) {
        let count = signals.count
        for signal in found { add(signal) }
        if signals.count != count { positions = Self.begins(of: signals) }
    }

    private mutating func add(_ found: AdSignal) {
        guard signals.count < Self.most, let position = found.position,
            [.breakBegin, .breakEnd].contains(found.kind)
        else { return }
        let isBegin = found.kind == .breakBegin
        let key = found.event.map { String($0) } ?? found.id
        let signal = Signal(position: position, isBegin: isBegin, key: key, duration: found.duration)
        let second = position / Self.tolerance
        let near = (-1...1).map { Slot(isBegin: isBegin, key: key, second: second.saturatingAdd($0)) }
        guard slots.isDisjoint(with: near) else { return }
        slots.insert(Slot(isBegin: isBegin, key: key, second: second))
        signals.insert(signal, at: signals.partitioningIndex { !$0.precedes(signal) })
    }

    private static func begins(of signals: [Signal]) -> [Int64] {
        var (begins, open, end): ([Int64], [(key: String?, end: Int64)], Int64) = ([], [], .min)
        for signal in signals {
            // A break that returns by itself is over after its duration.
            for lapsed in open where lapsed.end <= signal.position { end = max(end, lapsed.end) }
            open.removeAll { $0.end <= signal.position }
            if signal.isBegin {
                let isPart = !open.isEmpty || signal.position.saturatingSubtract(end) < tolerance
                if !isPart { begins.append(signal.position) }
                let known = signal.position.saturatingAdd(max(signal.duration ?? 0, tolerance))
                if open.count < mostOpen { open.append((signal.key, known)) }
            } else {
                open.removeAll { signal.key == nil || $0.key == signal.key }
                end = signal.position
            }
        }
        return begins
    }
}
