internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
@preconcurrency internal import Glibc
#elseif canImport(Musl)
@preconcurrency internal import Musl
#endif

/// An mpv that this process has started, and that ends with this process.
///
/// mpv communicates over one end of a pair of sockets that it inherits (`--input-ipc-client=fd://3`), and quits when
/// the other end is closed: mpv ends even if this process is killed, and needs no socket path. mpv inherits that
/// socket, an empty standard input, and the standard output and error of this process, but no other descriptor.
final class MPVProcess: Sendable {
    /// The time in which mpv may quit before it receives a signal.
    private static var patience: Duration { .seconds(3) }

    private let identifier: pid_t
    /// This process's end of the connection. Its user closes it.
    let descriptor: Int32

    init(_ launch: MPVLaunch) throws(MPVError) {
        switch UnixSocket.pair() {
        case .failure(let error):
            throw MPVError(code: .cannotStart, description: "cannot start mpv: \(error)")
        case .success(let (ours, child)):
            defer { close(child) }
            let (identifier, error) = Self.spawn(launch, descriptor: child)
            if error != 0 {
                close(ours)
                throw MPVError(
                    code: .cannotStart,
                    description: "cannot start '\(launch.program)': \(SystemError(error)); check that it is installed"
                )
            }
            (self.identifier, descriptor) = (identifier, ours)
        }
    }

    /// Ends the process, whose connection is already closed, and collects its status. Returns at once.
    func end(by clock: any SchedulingClock) {
        let (start, identifier) = (clock.now, identifier)
        // mpv quits within some milliseconds. No thread waits for it.
        @Sendable func look(after delay: Duration, told: Int32) {
            _ = clock.schedule(at: clock.now.advanced(by: delay)) {
                var status: Int32 = 0
                let result = waitpid(identifier, &status, WNOHANG)
                guard result == 0 || (result < 0 && errno == EINTR) else { return }
                let waited = start.duration(to: clock.now)
                let next = waited > Self.patience * 2 ? SIGKILL : waited > Self.patience ? SIGTERM : 0
                if next != told { kill(identifier, next) }
                look(after: .milliseconds(50), told: next)
            }
        }
        look(after: .milliseconds(10), told: 0)
    }

    #if os(tvOS) || os(watchOS)
    /// These systems start no processes.
    private static func spawn(_ launch: MPVLaunch, descriptor: Int32) -> (pid_t, Int32) { (0, ENOTSUP) }
    #else
    private static func spawn(_ launch: MPVLaunch, descriptor: Int32) -> (pid_t, Int32) {
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
        posix_spawn_file_actions_adddup2(&actions, descriptor, 3)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        closeOthers(&actions)
        // The player must not inherit signals that this process ignores or blocks.
        var (all, none) = (sigset_t(), sigset_t())
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, flags)
        let words = [launch.program, "--input-ipc-client=fd://3", "--no-terminal"] + launch.arguments
        var identifier: pid_t = 0
        let error = withCStrings(words) { words in
            posix_spawnp(&identifier, launch.program, &actions, &attributes, words, environment)
        }
        return (identifier, error)
    }

    /// The variables of this process.
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

    private static func closeOthers(_ actions: inout posix_spawn_file_actions_t?) {
        for descriptor: Int32 in [1, 2] { posix_spawn_file_actions_addinherit_np(&actions, descriptor) }
    }
    #else
    private static var flags: Int16 { Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK) }

    private typealias CloseFrom =
        @convention(c) (
            UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32
        ) -> Int32

    /// Closes descriptors without `O_CLOEXEC`, too. glibc has the function from 2.34 on; elsewhere the flag of each
    /// descriptor decides.
    private static func closeOthers(_ actions: inout posix_spawn_file_actions_t) {
        guard let function = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
        _ = unsafeBitCast(function, to: CloseFrom.self)(&actions, 4)
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
