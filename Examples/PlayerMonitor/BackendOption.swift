internal import ArgumentParser
internal import Instrument
internal import InstrumentBackends

/// Where samples go, as it is written on the command line.
enum BackendOption: ExpressibleByArgument, Hashable {
    case console
    case json
    case file(path: String)

    init?(argument: String) {
        switch argument {
        case "console": self = .console
        case "json": self = .json
        default:
            guard argument.hasPrefix("file:"), argument.utf8.count > 5 else { return nil }
            self = .file(path: String(argument.dropFirst(5)))
        }
    }

    static let help: ArgumentHelp = """
        Where samples go: 'console' (lines for people), 'json' (JSON lines on standard output), 'file:PATH' (JSON lines in a \
        file; compressed if PATH ends in .gz). May be given several times.
        """
}
