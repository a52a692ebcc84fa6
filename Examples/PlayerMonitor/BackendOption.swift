internal import ArgumentParser
internal import Instrument
internal import InstrumentBackends

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

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

    /// The backend; ends with 2 if it cannot be made.
    func make(_ terminal: Terminal) throws -> any Backend {
        switch self {
        case .console:
            let isColored = isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil
            return ConsoleBackend(format: .text(colored: isColored)) { terminal.write($0) }
        case .json: return ConsoleBackend(name: "json", format: .jsonLines) { terminal.write($0) }
        case .file(let path):
            let compression: FileConfiguration.Compression = path.hasSuffix(".gz") ? .gzip : .none
            do {
                return try FileBackend(path: path, configuration: FileConfiguration(compression: compression))
            } catch {
                throw ValidationError(error.description)
            }
        }
    }

    static let help: ArgumentHelp = """
        Where samples go: 'console' (lines for people), 'json' (JSON lines on standard output), 'file:PATH' (JSON lines in a \
        file; compressed if PATH ends in .gz). May be given several times.
        """
}
