package import Instrument

#if canImport(Darwin)
package import Darwin
#elseif canImport(Glibc)
@preconcurrency package import Glibc
#elseif canImport(Musl)
@preconcurrency package import Musl
#endif

/// A program to start as a child process, with the descriptors that it has and no others.
///
/// Signals that this process ignores or blocks have their default effect in the child. The child has the variables of
/// this process.
package struct ProgramLaunch {
    /// The source of one of the child's descriptors.
    package enum Source {
        /// A descriptor of this process.
        case descriptor(Int32)
        /// A file that the child opens with these flags; created for this user alone.
        case file(String, Int32)
    }

    /// The program, which `PATH` finds.
    package var program: String
    package var arguments: [String]
    /// The child's directory; nil for that of this process.
    package var directory: String?
    /// The child's descriptors, other than an empty standard input and the inherited output and error.
    package var sources: [Int32: Source] = [:]
    /// Whether the child leads a separate group of processes, which can be ended with all that the child starts.
    package var leadsGroup = false

    package init(_ program: String, arguments: [String]) { (self.program, self.arguments) = (program, arguments) }

    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    /// These systems start no programs.
    package func start() throws(SystemError) -> pid_t { throw SystemError(ENOTSUP) }
    #else
    /// Starts the program. The caller collects the child's status.
    /// - Throws: the system's error, such as `ENOENT` for a program that `PATH` does not find.
    package func start() throws(SystemError) -> pid_t {
        #if canImport(Darwin)
        var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?) = (nil, nil)
        #else
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        if let directory { try Self.change(to: directory, &actions) }
        for (number, source) in sources.merging([0: .file("/dev/null", O_RDONLY)], uniquingKeysWith: { own, _ in own })
        {
            switch source {
            case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
            case .file(let path, let flags): posix_spawn_file_actions_addopen(&actions, number, path, flags, 0o600)
            }
        }
        Self.closeOthers(&actions, from: max(2, sources.keys.max() ?? 0) + 1)
        var (all, none) = (sigset_t(), sigset_t())
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, leadsGroup ? Self.flags | Int16(POSIX_SPAWN_SETPGROUP) : Self.flags)
        var identifier: pid_t = 0
        let error = Self.withCStrings([program] + arguments) { words in
            posix_spawnp(&identifier, program, &actions, &attributes, words, Self.environment)
        }
        if error != 0 { throw SystemError(error) }
        return identifier
    }

    private static var environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
        #if canImport(Darwin)
        _NSGetEnviron().pointee
        #else
        environ
        #endif
    }

    #if canImport(Darwin)
    private static var flags: Int16 {
        Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_CLOEXEC_DEFAULT)
    }

    private static func change(
        to directory: String,
        _ actions: inout posix_spawn_file_actions_t?
    ) throws(SystemError) {
        let error = posix_spawn_file_actions_addchdir_np(&actions, directory)
        if error != 0 { throw SystemError(error) }
    }

    private static func closeOthers(_ actions: inout posix_spawn_file_actions_t?, from _: Int32) {
        for descriptor: Int32 in [1, 2] { posix_spawn_file_actions_addinherit_np(&actions, descriptor) }
    }
    #else
    private static var flags: Int16 { Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK) }

    private typealias ChangeDirectory =
        @convention(c) (
            UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>
        ) -> Int32

    /// glibc has the function from 2.29 on, but its headers show it to programs for GNU alone.
    private static func change(
        to directory: String,
        _ actions: inout posix_spawn_file_actions_t
    ) throws(SystemError) {
        guard let function = dlsym(nil, "posix_spawn_file_actions_addchdir_np") else { throw SystemError(ENOTSUP) }
        let error = unsafeBitCast(function, to: ChangeDirectory.self)(&actions, directory)
        if error != 0 { throw SystemError(error) }
    }

    private typealias CloseFrom =
        @convention(c) (
            UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32
        ) -> Int32

    /// Closes descriptors without `O_CLOEXEC`, too. glibc has the function from 2.34 on; elsewhere the flag of each
    /// descriptor decides.
    private static func closeOthers(_ actions: inout posix_spawn_file_actions_t, from first: Int32) {
        guard let function = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
        _ = unsafeBitCast(function, to: CloseFrom.self)(&actions, first)
    }
    #endif

    private static func withCStrings<Result>(
        _ texts: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = texts.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }
    #endif
}
