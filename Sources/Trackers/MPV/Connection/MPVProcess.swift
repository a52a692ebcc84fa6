internal import Instrument
internal import InstrumentFiles

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
            var program = ProgramLaunch(
                launch.program,
                arguments: ["--input-ipc-client=fd://3", "--no-terminal"] + launch.arguments
            )
            program.sources[3] = .descriptor(child)
            do throws(SystemError) {
                (identifier, descriptor) = (try program.start(), ours)
            } catch {
                close(ours)
                throw MPVError(
                    code: .cannotStart,
                    description: "cannot start '\(launch.program)': \(error); check that it is installed"
                )
            }
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
}
