import Instrument
import InstrumentBackendKinds
import InstrumentCommands

/// A backend that writes the names of the samples to standard output, behind the text that its address has.
struct NameList: Backend {
    let name: BackendName = "names"
    let prefix: String
    /// Writes above the command line's progress; false if the reader has closed standard output.
    let write: @Sendable ([UInt8]) -> Bool

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        var text = ""
        for record in batch.records {
            switch record.sample {
            case .event(let event): text += "\(prefix) \(event.action)\n"
            case .metric(let metric): text += "\(prefix) \(metric.name)\n"
            }
        }
        return write(Array(text.utf8)) ? .acknowledged : .retry(after: nil, reason: "standard output is full")
    }
}

extension BackendKind {
    /// `--backend names:PREFIX`, and `names: PREFIX` in a configuration of `watch`. The text of an address is checked
    /// when the arguments are read.
    static let names = BackendKind(
        "names",
        summary: "names of the samples on standard output",
        address: .text("PREFIX", expecting: "a word without white space"),
        read: { prefix in
            guard !prefix.isEmpty, !prefix.contains(where: \.isWhitespace) else {
                throw BackendKindError("names needs a word, such as names:sample (found '\(prefix)')")
            }
            return prefix
        },
        make: { prefix, context in NameList(prefix: prefix, write: context.write) }
    )
}

/// All commands of `player-monitor`, with one more backend: `CustomCommandLine play --backend names:sample film.mkv`.
@main
enum Program {
    static func main() async { await PlayerMonitorProgram.run(adding: [.names]) }
}
