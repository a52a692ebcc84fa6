internal import Instrument
internal import InstrumentXML

/// The service descriptions of an MPD for everybody (ISO/IEC 23009-1 annex K): those without a `Scope`. Of each value,
/// the first one counts.
struct ServiceDescription {
    private let services: [MarkupElement]

    init(_ root: MarkupElement) { services = root.all("ServiceDescription").filter { $0.first("Scope") == nil } }

    /// `Latency@target`, in nanoseconds; nil if not declared.
    var targetLatency: Int64? { latency("target") }

    /// Whether the service asks players to change the playback rate: by rates or by a target latency.
    var asksForCatchUp: Bool { targetLatency != nil || services.contains { $0.first("PlaybackRate") != nil } }

    /// The limits; a value that contradicts its meaning is ignored.
    var limits: ServiceLimits {
        var limits = ServiceLimits()
        limits.targetLatency = targetLatency
        limits.minimumLatency = latency("min")
        limits.maximumLatency = latency("max").flatMap { $0 < limits.minimumLatency ?? 0 ? nil : $0 }
        limits.minimumRate = rate("min").flatMap { $0 > 0 && $0 <= 1 ? $0 : nil }
        limits.maximumRate = rate("max").flatMap { $0 >= 1 ? $0 : nil }
        return limits
    }

    /// Annex K.3.2: milliseconds.
    private func latency(_ attribute: String) -> Int64? {
        let value = services.lazy.compactMap { $0.first("Latency")?.integer(attribute) }.first
        return value.flatMap { $0 > 0 ? $0.saturatingMultiply(1_000_000) : nil }
    }

    /// Annex K.3.3.
    private func rate(_ attribute: String) -> Double? {
        services.lazy.compactMap { $0.first("PlaybackRate")?.word(attribute).flatMap { DecimalText.double($0) } }.first
    }
}
