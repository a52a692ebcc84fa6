public import Instrument
internal import InstrumentFiles
internal import InstrumentTerminal
internal import InstrumentText

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Prints samples to a console, as readable lines or as JSON lines.
///
/// Characters that a terminal interprets (escape sequences, line breaks, changes of direction) are escaped: as
/// `\u{1b}` in readable lines, as `\u001b` in JSON, whose values stay the same.
public struct ConsoleBackend: Backend {
    /// The format of the samples.
    public enum Format: Hashable, Sendable {
        /// A readable line: time, name, the most important attributes of the vocabulary, then all custom
        /// attributes; optionally in colour.
        case text(colored: Bool)
        /// Newline-delimited JSON.
        case jsonLines
    }

    /// The name under which the queue keeps its place.
    public let name: BackendName
    /// Batches every half second.
    public let policy = DeliveryPolicy(maxCount: 100, maxAge: .milliseconds(500), needsNetwork: false)
    private let format: Format
    private let write: @Sendable ([UInt8]) -> Bool

    /// Creates a backend that writes whole lines through `write`, which returns false if not all bytes could be
    /// written.
    public init(name: BackendName = "console", format: Format, write: @escaping @Sendable ([UInt8]) -> Bool) {
        self.name = name
        self.format = format
        self.write = write
    }

    /// Creates a backend that writes to standard output; text is coloured on a terminal, unless `NO_COLOR` is set.
    public static func standardOutput(jsonLines: Bool = false) -> ConsoleBackend {
        ConsoleBackend(format: jsonLines ? .jsonLines : .text(colored: StandardOutput.isColored)) { bytes in
            SystemFile.writeAll(bytes, to: STDOUT_FILENO) == 0
        }
    }

    /// Writes the batch; requests a retry if the console does not accept it.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        let bytes =
            switch format {
            case .jsonLines:
                TerminalText(json: JSONLines.encode(batch.records)).bytes
            case .text(let isColored):
                batch.records.flatMap { ConsoleLine.text(of: $0.sample, colored: isColored).bytes }
            }
        return write(bytes) ? .acknowledged : .retry(after: nil, reason: "the console does not accept output")
    }
}

extension Backend where Self == ConsoleBackend {
    /// A backend that prints readable lines to standard output: ``ConsoleBackend/standardOutput(jsonLines:)``.
    ///
    /// ```swift
    /// let instrument = Instrument(backends: [.console])
    /// ```
    public static var console: ConsoleBackend { .standardOutput() }
}

/// A sample as a readable line.
enum ConsoleLine {
    /// The most important attributes, in the order of the line.
    private static let shown: [AttributeName] = [
        "position", "duration", "title", "bitrate", "resolutionWidth", "resolutionHeight", "deltaPlayTime",
        "errorDescription", "adRoll", "adId", "adTitle", "adPosition", "adDuration",
    ]

    static func text(of sample: Sample, colored: Bool) -> TerminalText {
        let (name, details, color) = describe(sample)
        let painted: TerminalText = colored ? "\u{1B}[\(color)m\(name)\u{1B}[0m" : "\(name)"
        let line: TerminalText = "\(sample.time.wallTime.timeOfDay)Z [\(sample.tracker)] \(painted)"
        return details.isEmpty ? "\(line)\n" : "\(line)  \(details)\n"
    }

    private static func describe(_ sample: Sample) -> (name: String, details: String, color: Int) {
        switch sample {
        case .metric(let metric):
            let unit = metric.name.unit == .count ? "" : " " + metric.name.unit.rawValue
            let details = ["= \(metric.value)\(unit)"] + custom(metric.attributes)
            return (metric.name.spelling, details.joined(separator: " "), 36)
        case .event(let event):
            let known = shown.compactMap { name in event.attributes[name].map { "\(name)=\($0)" } }
            let details = known + custom(event.attributes)
            let isError = event.action == .error || event.action == .adError
            return (event.action.name, details.joined(separator: " "), isError ? 31 : 32)
        }
    }

    /// The custom attributes of the app or a tracker, in the order in which they were set.
    private static func custom(_ attributes: Attributes) -> [String] {
        attributes.filter { vocabulary[$0.name] == nil }.map { "\($0.name)=\($0.value)" }
    }

    private static let vocabulary = PrivacyCatalogue.vocabulary
}
