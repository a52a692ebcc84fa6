internal import Instrument
internal import InstrumentBackends
internal import InstrumentDurableQueue
internal import InstrumentFiles

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A place that recorded samples are read from.
package enum ReplayInput: Hashable, Sendable, CustomStringConvertible {
    /// A file of JSON lines, plain or gzip.
    case file(String)
    /// The directory of a durable queue.
    case queue(String)
    /// JSON lines, plain or gzip, on standard input.
    case standardInput

    /// The path, or `standard input`.
    package var description: String {
        switch self {
        case .file(let path), .queue(let path): path
        case .standardInput: "standard input"
        }
    }

    /// The inputs that an argument of a command line names, in the order of their samples: `-` is standard input, a
    /// directory is a durable queue, and a file follows its rotated files.
    ///
    /// - Parameter addsRotated: whether the rotated files of a file are read before it.
    /// - Throws: ``ReplayError`` if the path names neither a file nor a queue.
    package static func all(named argument: String, addsRotated: Bool = true) throws(ReplayError) -> [ReplayInput] {
        if argument == "-" { return [.standardInput] }
        var status = stat()
        guard stat(argument, &status) == 0 else {
            throw ReplayError("cannot read \(argument): \(SystemError(errno)); check the path")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            let rotated = addsRotated ? FileBackend.rotatedPaths(of: argument) : []
            return rotated.map { .file($0) } + [.file(argument)]
        }
        if QueueFolder.folders(in: argument).isEmpty {
            throw ReplayError(
                "\(argument) must be a file of JSON lines or the directory of a durable queue (found a directory without a queue)"
            )
        }
        return [.queue(argument)]
    }

    /// The inputs that the arguments name, each once: a rotated file that is also named by itself is read in its place
    /// among the rotated files.
    /// - Throws: ``ReplayError`` if a path names neither a file nor a queue.
    package static func all(named arguments: [String], addsRotated: Bool = true) throws(ReplayError) -> [ReplayInput] {
        var seen: Set<String> = []
        var inputs: [ReplayInput] = []
        for argument in arguments {
            for input in try self.all(named: argument, addsRotated: addsRotated) {
                if seen.insert(input.identity).inserted { inputs.append(input) }
            }
        }
        return inputs
    }

    /// The size of a file in bytes; nil for an input of unknown size.
    package var size: Int? {
        guard case .file(let path) = self else { return nil }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    /// The device and the number of a file, which are the same for two paths of one file.
    package var identity: String {
        var status = stat()
        guard self != .standardInput, stat(description, &status) == 0 else { return description }
        return "\(status.st_dev):\(status.st_ino)"
    }
}

/// The reason why an input cannot be read.
package struct ReplayError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message: the input that was found, the expected input, and the remedy.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// A part of an input that was skipped.
package struct ReplayProblem: Hashable, Sendable, CustomStringConvertible {
    /// The input.
    package let input: String
    /// The number of the line, from 1; nil for an input without lines.
    package let line: Int?
    /// The reason.
    package let reason: String

    /// The input, the line and the reason.
    package var description: String { line.map { "\(input), line \($0): \(reason)" } ?? "\(input): \(reason)" }
}
