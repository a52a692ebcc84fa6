internal import Foundation
internal import Instrument

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A headless Chromium that shows one page. Call ``end()`` when the page has reported.
package final class Browser: Sendable {
    /// Why there is no browser.
    package struct Unavailable: Error {
        package let reason: String

        package init(reason: String) { self.reason = reason }
    }

    private let process: Lock<Process>
    private let profile: Scratch
    private let errors: String

    /// Opens a page.
    ///
    /// - Parameter whenEnded: is called when the browser ends, with its output.
    package init(opening address: String, whenEnded: @escaping @Sendable (String) -> Void) throws {
        guard let program = Chromium.program else { throw Unavailable(reason: "there is no chromium") }
        profile = try Scratch()
        errors = profile.path + "/errors"
        _ = FileManager.default.createFile(atPath: errors, contents: nil)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = Chromium.options(profile) + ["--autoplay-policy=no-user-gesture-required", address]
        process.environment = Chromium.environment(profile)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle(forWritingAtPath: errors)
        process.terminationHandler = { [errors] _ in
            let text = FileManager.default.contents(atPath: errors) ?? Data()
            whenEnded(String(decoding: text.suffix(2000), as: UTF8.self))
        }
        try process.start()
        self.process = Lock(process)
    }

    deinit { end() }

    /// Ends the browser.
    package func end() { process.withLock { if $0.isRunning { $0.terminate() } } }
}
