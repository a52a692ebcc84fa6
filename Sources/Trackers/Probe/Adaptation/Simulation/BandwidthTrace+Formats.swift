internal import Instrument
internal import InstrumentJSON

/// A format of recorded traces.
package enum BandwidthTraceFormat: String, Hashable, Sendable, CaseIterable {
    /// Mahimahi: one line for each packet of 1500 bytes that can be delivered, with its millisecond.
    case mahimahi
    /// `time bandwidth` lines in seconds and Mbit/s, Pensieve's form of the HSDPA and FCC traces.
    case cooked
    /// Sabre: a JSON array of `{"duration_ms", "bandwidth_kbps", "latency_ms"}`.
    case sabre
}

extension BandwidthTrace {
    /// Reads a recorded trace.
    ///
    /// - Parameters:
    ///   - name: the trace's name in tables.
    ///   - text: the file's content, at most about 10⁷ lines.
    ///   - format: nil detects the format: JSON, one number per line, or two numbers per line.
    ///   - latency: the time from a request to its first byte, for formats without latencies.
    /// - Throws: ``BandwidthTraceError`` with the line that cannot be read.
    package init(
        name: String,
        reading text: String,
        format: BandwidthTraceFormat? = nil,
        latency: Duration = .zero
    ) throws(BandwidthTraceError) {
        let known: BandwidthTraceFormat
        if let format { known = format } else { known = try Self.format(of: text) }
        switch known {
        case .mahimahi: try self.init(name: name, periods: Self.mahimahi(text, latency))
        case .cooked: try self.init(name: name, periods: Self.cooked(text, latency))
        case .sabre: try self.init(name: name, periods: Self.sabre(text, latency))
        }
    }

    private static func format(of text: String) throws(BandwidthTraceError) -> BandwidthTraceFormat {
        guard let line = lines(of: text).first else { throw BandwidthTraceError(.empty, "the trace is empty") }
        if line.text.first == "[" { return .sabre }
        return fields(of: line.text).count == 1 ? .mahimahi : .cooked
    }

    /// The lines that are not empty, with their numbers from 1; `#` begins a comment.
    private static func lines(of text: String) -> [(number: Int, text: Substring)] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            let trimmed = line.drop { $0.isWhitespace }
            return trimmed.isEmpty || trimmed.first == "#" ? nil : (index + 1, trimmed)
        }
    }

    private static func fields(of line: Substring) -> [Substring] { line.split { $0.isWhitespace || $0 == "," } }

    /// Mahimahi (Netravali et al., USENIX ATC 2015), mm-link(1): timestamps in milliseconds that never decrease; the
    /// trace restarts after the last one. A timestamp is the end of its millisecond.
    private static func mahimahi(_ text: String, _ latency: Duration) throws(BandwidthTraceError) -> [Period] {
        var periods: [Period] = []
        var last: Int64 = 0
        var count = 0
        for line in lines(of: text) {
            let fields = fields(of: line.text)
            guard fields.count == 1, let stamp = Int64(fields[0]), stamp >= 0, stamp < 1_000_000_000_000 else {
                throw BandwidthTraceError(.syntax, "line \(line.number) is no millisecond")
            }
            let time = max(1, stamp)
            guard time >= last else { throw BandwidthTraceError(.syntax, "line \(line.number) goes back in time") }
            if time != last {
                close(&periods, count, latency)
                append(&periods, milliseconds: time - last - 1, bitrate: 0, latency)
                (last, count) = (time, 0)
            }
            count += 1
        }
        close(&periods, count, latency)
        return periods
    }

    private static func close(_ periods: inout [Period], _ packets: Int, _ latency: Duration) {
        // 1500 bytes per millisecond.
        if packets > 0 { append(&periods, milliseconds: 1, bitrate: packets * 12_000_000, latency) }
    }

    private static func append(_ periods: inout [Period], milliseconds: Int64, bitrate: Int, _ latency: Duration) {
        if milliseconds <= 0 { return }
        if let last = periods.last, last.bitrate == bitrate {
            periods[periods.count - 1].duration += .milliseconds(milliseconds)
        } else {
            periods.append(Period(duration: .milliseconds(milliseconds), bitrate: bitrate, latency: latency))
        }
    }

    /// Pensieve (Mao, Netravali, Alizadeh, SIGCOMM 2017), sim/fixed_env.py: a line's bandwidth applies from the
    /// previous line's time to its own.
    private static func cooked(_ text: String, _ latency: Duration) throws(BandwidthTraceError) -> [Period] {
        var periods: [Period] = []
        var last: Double?
        for line in lines(of: text) {
            let fields = fields(of: line.text)
            guard fields.count == 2, let time = Double(fields[0]), let megabits = Double(fields[1]), time.isFinite,
                megabits >= 0, megabits < 1e9, abs(time) < 1e9
            else { throw BandwidthTraceError(.syntax, "line \(line.number) is no time and bandwidth") }
            if let last {
                guard time >= last else { throw BandwidthTraceError(.syntax, "line \(line.number) goes back in time") }
                let period = Period(
                    duration: Duration(clampingSeconds: time - last),
                    bitrate: Int(Int64(clamping: (megabits * 1e6).rounded())),
                    latency: latency
                )
                periods.append(period)
            }
            last = time
        }
        return periods
    }

    /// Sabre (Spiteri, MMSys 2018), the network trace of its manual.
    private static func sabre(_ text: String, _ latency: Duration) throws(BandwidthTraceError) -> [Period] {
        guard let value = try? JSONValue(parsing: text), case .array(let items) = value else {
            throw BandwidthTraceError(.syntax, "this is no JSON array")
        }
        var periods: [Period] = []
        for (index, item) in items.enumerated() {
            guard let milliseconds = item["duration_ms"]?.number, let kilobits = item["bandwidth_kbps"]?.number,
                milliseconds >= 0, milliseconds < 1e12, kilobits >= 0, kilobits < 1e12
            else { throw BandwidthTraceError(.syntax, "item \(index + 1) has no duration_ms and bandwidth_kbps") }
            let delay = item["latency_ms"]?.number.map { Duration(clampingSeconds: $0 / 1000) }
            periods.append(
                Period(
                    duration: Duration(clampingSeconds: milliseconds / 1000),
                    bitrate: Int(Int64(clamping: (kilobits * 1000).rounded())),
                    latency: delay ?? latency
                )
            )
        }
        return periods
    }
}

extension JSONValue {
    /// An integer or a floating-point number; finite.
    var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value.isFinite ? value : nil
        default: nil
        }
    }
}
