internal import Instrument
internal import InstrumentFiles
internal import InstrumentSockets
internal import InstrumentText

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A Chromium that this process has started, and that ends with this process.
///
/// The browser talks over one end of a pair of sockets that it inherits as its descriptors 3 and 4
/// (`--remote-debugging-pipe`), and quits when the other end is closed: it ends even if this process is killed. It
/// leads a separate group of processes, which is ended as a whole.
final class ChromeProcess: Sendable {
    /// The time in which the browser may quit before its group receives a signal.
    private static var patience: Duration { .seconds(3) }
    private static let maxOutputLength = 4_096
    private static let folderPrefix = "instrument-chrome-"

    private let identifier: pid_t
    private let folder: String
    private let written = Lock<[UInt8]>([])
    /// This process's end of the connection. Its user closes it.
    let descriptor: Int32
    /// This process's end of the browser's standard output and error. Its user closes it.
    let output: Int32

    init(_ launch: ChromeLaunch, random: RandomSource = RandomSource()) throws(ChromeError) {
        let parent = launch.folder ?? Self.temporaryFolder
        Self.removeLeftovers(in: parent)
        folder = "\(parent)/\(Self.folderPrefix)\(getpid())-\(random.identifier().prefix(8))"
        do throws(FileError) { try Folder.create(folder) } catch {
            throw ChromeError(code: .cannotStart, description: "cannot create the browser's profile: \(error)")
        }
        let folder = folder
        do throws(ChromeError) {
            (identifier, descriptor, output) = try Self.start(launch, profile: folder)
        } catch {
            Folder.remove(folder)
            throw error
        }
    }

    private static func start(
        _ launch: ChromeLaunch,
        profile: String
    ) throws(ChromeError) -> (pid_t, descriptor: Int32, output: Int32) {
        let connection = try pair()
        let written: (ours: Int32, child: Int32)
        do throws(ChromeError) { written = try pair() } catch {
            for end in [connection.ours, connection.child] { close(end) }
            throw error
        }
        // Numbers beyond those that the child has.
        let ends = [connection.child, written.child].map { fcntl($0, F_DUPFD_CLOEXEC, 10) }
        for end in [connection.child, written.child] { close(end) }
        defer { for end in ends where end >= 0 { close(end) } }
        for program in launch.program.map({ [$0] }) ?? ChromeLaunch.programs {
            var child = ProgramLaunch(program, arguments: arguments(launch, profile: profile))
            child.leadsGroup = true
            for number: Int32 in [3, 4] { child.sources[number] = .descriptor(ends[0]) }
            for number: Int32 in [1, 2] { child.sources[number] = .descriptor(ends[1]) }
            do throws(SystemError) {
                return (try child.start(), connection.ours, written.ours)
            } catch {
                if error.number == ENOENT { continue }
                for end in [connection.ours, written.ours] { close(end) }
                throw ChromeError(code: .cannotStart, description: "cannot start '\(program)': \(error)")
            }
        }
        for end in [connection.ours, written.ours] { close(end) }
        throw ChromeError(
            code: .notInstalled,
            description:
                "no Chromium found (looked for \((launch.program.map { [$0] } ?? ChromeLaunch.programs).joined(separator: ", "))); "
                + "install the package chromium, or give the path of the program"
        )
    }

    private static func arguments(_ launch: ChromeLaunch, profile: String) -> [String] {
        var arguments = [
            "--headless=new", "--remote-debugging-pipe", "--user-data-dir=\(profile)", "--no-first-run",
            "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--password-store=basic", "--mute-audio", "--disable-gpu", "--window-size=1280,720",
            "--autoplay-policy=no-user-gesture-required",
            // Every tab plays as the one in front does.
            "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
            "--disable-renderer-backgrounding",
            // The browser would ask a person whether a page may request media from a private address.
            "--disable-features=LocalNetworkAccessChecks",
        ]
        // Chromium's sandbox refuses the superuser.
        if geteuid() == 0 { arguments.append("--no-sandbox") }
        return arguments + launch.arguments + ["about:blank"]
    }

    private static func pair() throws(ChromeError) -> (ours: Int32, child: Int32) {
        switch UnixSocket.pair() {
        case .success(let (ours, child)): (ours, child)
        case .failure(let error):
            throw ChromeError(code: .cannotStart, description: "cannot create a connection for the browser: \(error)")
        }
    }

    private static var temporaryFolder: String {
        let path = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        return path.isEmpty ? "/tmp" : path
    }

    /// Removes the profiles of processes that were killed.
    private static func removeLeftovers(in parent: String) {
        for name in (try? Folder.names(in: parent)) ?? [] where name.hasPrefix(folderPrefix) {
            let number = name.dropFirst(folderPrefix.count).prefix { $0 != "-" }
            guard let owner = pid_t(number), owner > 0, owner != getpid(), kill(owner, 0) != 0, errno == ESRCH else {
                continue
            }
            Folder.remove("\(parent)/\(name)")
        }
    }

    /// Keeps the end of what the browser writes.
    func keep(_ bytes: [UInt8]) {
        written.withLock { written in
            written += bytes
            written.removeFirst(max(0, written.count - Self.maxOutputLength))
        }
    }

    /// Why a browser ended before it answered: the last line that it wrote.
    func reason(_ words: String) -> String {
        let text = String(decoding: written.withLock { $0 }, as: UTF8.self)
        let line = text.split(separator: "\n").last.map { SourceText.redactedAddresses(in: $0.excerpt(toBytes: 300)) }
        return line.map { "\(words); its last words: \($0)" } ?? words
    }

    /// Ends the process, whose connection is already closed, collects its status, and removes its profile. Returns at
    /// once, and calls `whenEnded` after that.
    func end(
        by clock: any SchedulingClock,
        isRead: Bool,
        closing output: StreamConnection?,
        whenEnded: @escaping @Sendable () -> Void
    ) {
        if !isRead { for end in [descriptor, self.output] { closeDescriptor(end) } }
        let (start, identifier, folder) = (clock.now, identifier, folder)
        // The browser quits within some hundred milliseconds. No thread waits for it.
        @Sendable func look(after delay: Duration, told: Int32) {
            _ = clock.schedule(at: clock.now.advanced(by: delay)) {
                var status: Int32 = 0
                let result = waitpid(identifier, &status, WNOHANG)
                guard result == 0 || (result < 0 && errno == EINTR) else {
                    // What the browser has left behind of its group.
                    kill(-identifier, SIGKILL)
                    output?.close()
                    Folder.remove(folder)
                    whenEnded()
                    return
                }
                let waited = start.duration(to: clock.now)
                let next = waited > Self.patience * 2 ? SIGKILL : waited > Self.patience ? SIGTERM : 0
                if next != told, next != 0 { kill(-identifier, next) }
                look(after: .milliseconds(50), told: next)
            }
        }
        look(after: .milliseconds(10), told: 0)
    }
}
