#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Why samples could not be written to a file, or read from one, and what to do.
public struct FileBackendError: Error, Hashable, Sendable {
    /// What went wrong; an open set.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a short text.
        public let description: String
        private init(_ description: String) { self.description = description }

        /// The path names a directory or another thing that is no regular file.
        public static let notAFile = Code("notAFile")
        /// Another backend, perhaps of another process, writes to the file.
        public static let inUse = Code("inUse")
        /// The disk is full, or the quota used up.
        public static let diskFull = Code("diskFull")
        /// The permissions forbid it.
        public static let notPermitted = Code("notPermitted")
        /// There is no such file.
        public static let notFound = Code("notFound")
        /// The file holds something else than samples, or samples packed in another way; it was left as it is.
        public static let otherFormat = Code("otherFormat")
        /// Not only the end is damaged: the backend sets the file aside and begins anew.
        static let damaged = Code("damaged")
        /// The system said no in another way.
        public static let system = Code("system")
    }

    /// What went wrong.
    public let code: Code
    /// The file.
    public let path: String
    /// What happened and what to do, for people.
    public let message: String

    init(_ code: Code, _ path: String, _ message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    /// What `errno` says after a failed call.
    init(errno number: Int32, _ path: String, _ doing: String) {
        let text = String(cString: strerror(number))
        switch number {
        case ENOSPC, EDQUOT:
            self.init(.diskFull, path, "cannot \(doing): the disk is full; free space, writing goes on by itself")
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
