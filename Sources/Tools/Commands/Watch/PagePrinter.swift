internal import ArgumentParser
internal import Foundation
internal import Instrument
internal import InstrumentChrome
internal import InstrumentCommandLine
internal import InstrumentFiles

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Prints a page to a PDF, with a browser of this machine.
struct PagePrinter {
    /// The longest time of a print.
    private static var patience: Duration { .seconds(120) }

    private let program: String

    /// - Parameter browser: the browser; nil for the first of `ChromeLaunch.programs` that is installed.
    init(browser: String?) throws {
        guard let program = browser ?? ChromeLaunch.programs.first(where: Self.isInstalled) else {
            throw ValidationError(
                "--pdf needs an installed browser (found none of \(ChromeLaunch.programs.joined(separator: ", "))); install chromium, or print the page of -o FILE"
            )
        }
        self.program = program
    }

    private static func isInstalled(_ name: String) -> Bool {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        return path.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
    }

    /// Prints a page to a file; returns when the file is complete.
    func write(_ page: [UInt8], toPDF path: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "player-monitor-\(UUID().uuidString)").path
        do throws(FileError) { try Folder.create(folder) } catch {
            throw ValidationError("cannot make a directory for the browser: \(error)")
        }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (source, result) = (folder + "/page.html", folder + "/page.pdf")
        try writeFile(page, to: source)
        var launch = ProgramLaunch(
            program,
            arguments: [
                "--headless", "--disable-gpu", "--no-first-run", "--disable-extensions",
                "--user-data-dir=\(folder)/profile", "--no-pdf-header-footer", "--print-to-pdf=\(result)",
                "file://\(source)",
            ]
        )
        // Chromium refuses its sandbox to the superuser; the page is our own, and has no script.
        if geteuid() == 0 { launch.arguments.insert("--no-sandbox", at: 0) }
        for output: Int32 in [1, 2] {
            launch.sources[output] = .file(folder + "/output", O_WRONLY | O_CREAT | O_APPEND)
        }
        let child: pid_t
        do { child = try launch.start() } catch {
            throw ValidationError("cannot start the browser '\(program)': \(error)")
        }
        try await wait(for: child)
        guard let pdf = try? SmallFile.read(result, atMost: 256 << 20), pdf.starts(with: Array("%PDF-".utf8)) else {
            throw ValidationError("the browser '\(program)' printed no PDF; try another one with --browser")
        }
        try writeFile(pdf, to: path)
    }

    private func wait(for child: pid_t) async throws {
        let end = ContinuousClock.now.advanced(by: Self.patience)
        var status: Int32 = 0
        while waitpid(child, &status, WNOHANG) == 0 {
            if ContinuousClock.now > end {
                kill(child, SIGKILL)
                _ = waitpid(child, &status, 0)
                throw ValidationError("the browser '\(program)' has not printed the page within \(Self.patience)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
