internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// The reason why samples could not be written to or read from a file, and the remedy.
public struct FileBackendError: Error, Hashable, Sendable {
    /// The kind of an error; an open set.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        public let description: String

        /// Creates a code; codes with the same text are equal.
        package init(_ description: String) { self.description = description }

        /// The path names a directory or another object that is not a regular file.
        public static let notAFile = Code("notAFile")
        /// Another backend, perhaps of another process, writes to the file.
        public static let inUse = Code("inUse")
        /// The disk is full, or the quota is used up.
        public static let diskFull = Code("diskFull")
        /// The permissions forbid it.
        public static let notPermitted = Code("notPermitted")
        /// The file does not exist.
        public static let notFound = Code("notFound")
        /// The file has other content than samples, or another compression; it was left unchanged.
        public static let otherFormat = Code("otherFormat")
        /// The file is damaged before its end; the backend renames it and begins a new file.
        static let damaged = Code("damaged")
        /// Another error of the system.
        public static let system = Code("system")
    }

    /// The kind of the error.
    public let code: Code
    /// The file.
    public let path: String
    /// The error and the remedy, for people.
    public let message: String

    init(_ code: Code, _ path: String, _ message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    /// Creates an error from `errno` after a failed call.
    init(errno number: Int32, _ path: String, _ doing: String) {
        let text = SystemError(number).description
        switch number {
        case ENOSPC, EDQUOT:
            self.init(
                .diskFull,
                path,
                "cannot \(doing): the disk is full; free some space, and writing resumes automatically"
            )
        case EACCES, EPERM, EROFS: self.init(.notPermitted, path, "cannot \(doing): \(text); check the permissions")
        case EISDIR: self.init(.notAFile, path, "cannot \(doing): it is a directory; name a file in it")
        case ENOENT: self.init(.notFound, path, "cannot \(doing): there is no such file")
        default: self.init(.system, path, "cannot \(doing): \(text)")
        }
    }
}

extension FileBackendError: CustomStringConvertible {
    /// The path and the message.
    public var description: String { "\(path): \(message)" }
}
