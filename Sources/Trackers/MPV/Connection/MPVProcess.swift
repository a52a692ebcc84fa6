internal import Instrument
internal import InstrumentFiles
internal import InstrumentSockets

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// An mpv that this process has started, and that ends with this process.
///
/// mpv communicates over one end of a pair of sockets that it inherits (`--input-ipc-client=fd://3`), and quits when
/// the other end is closed: mpv ends even if this process is killed, and needs no socket path. mpv inherits that
/// socket, an empty standard input, and one end of another pair as its standard output and error, but no other
/// descriptor: what mpv and its libraries write is read and bounded, and does not flood the output of this process.
final class MPVProcess: Sendable {
    /// The time in which mpv may quit before it receives a signal.
    private static var patience: Duration { .seconds(3) }

    private let identifier: pid_t
    /// This process's end of the connection. Its user closes it.
    let descriptor: Int32
    /// This process's end of mpv's standard output and error. Its user closes it.
    let output: Int32
    private let arguments: [String]

    init(_ launch: MPVLaunch) throws(MPVError) {
        let (ours, child) = try Self.pair()
        defer { close(child) }
        let written: (ours: Int32, child: Int32)
        do throws(MPVError) { written = try Self.pair() } catch {
            close(ours)
            throw error
        }
        // A number that is not one of the child's own.
        let childOutput = fcntl(written.child, F_DUPFD_CLOEXEC, 10)
        close(written.child)
        defer { if childOutput >= 0 { close(childOutput) } }
        var program = ProgramLaunch(
            launch.program,
            arguments: ["--input-ipc-client=fd://3", "--no-terminal"] + launch.arguments
        )
        program.sources[3] = .descriptor(child)
        if childOutput >= 0 { for number: Int32 in [1, 2] { program.sources[number] = .descriptor(childOutput) } }
        arguments = launch.arguments
        do throws(SystemError) {
            (identifier, descriptor, output) = (try program.start(), ours, written.ours)
        } catch {
            close(ours)
            close(written.ours)
            throw MPVError(
                code: .cannotStart,
                description: "cannot start '\(launch.program)': \(error); check that it is installed"
            )
        }
    }

    private static func pair() throws(MPVError) -> (ours: Int32, child: Int32) {
        switch UnixSocket.pair() {
        case .success(let (ours, child)): (ours, child)
        case .failure(let error): throw MPVError(code: .cannotStart, description: "cannot start mpv: \(error)")
        }
    }

    /// A line of mpv's without mpv's arguments, which may be addresses with credentials.
    func withoutArguments(_ line: String) -> String {
        arguments.reduce(line) { $1.utf8.count > 7 ? $0.replacing($1, with: "…") : $0 }
    }

    /// Ends the process, whose connection is already closed, collects its status, and closes the reader of its output.
    /// Returns at once.
    func end(by clock: any SchedulingClock, closing output: StreamConnection?) {
        let (start, identifier) = (clock.now, identifier)
        // mpv quits within some milliseconds. No thread waits for it.
        @Sendable func look(after delay: Duration, told: Int32) {
            _ = clock.schedule(at: clock.now.advanced(by: delay)) {
                var status: Int32 = 0
                let result = waitpid(identifier, &status, WNOHANG)
                guard result == 0 || (result < 0 && errno == EINTR) else {
                    output?.close()
                    return
                }
                let waited = start.duration(to: clock.now)
                let next = waited > Self.patience * 2 ? SIGKILL : waited > Self.patience ? SIGTERM : 0
                if next != told { kill(identifier, next) }
                look(after: .milliseconds(50), told: next)
            }
        }
        look(after: .milliseconds(10), told: 0)
    }
}
