import Foundation
import Instrument
import InstrumentJSON
import LoopbackServers

/// A headless Chromium with one page that a test drives with keys.
///
/// Speaks the DevTools protocol over two pipes (`--remote-debugging-pipe`): each message is JSON, and a zero byte ends
/// it.
final class DrivenBrowser: Sendable {
    /// What the browser answered instead of a result.
    struct Failure: Error { let text: String }

    private struct State {
        var lastID = 0
        var waiters: [Int: CheckedContinuation<JSONValue, any Error>] = [:]
        var hasEnded = false
    }

    private let process: Lock<Process>
    private let commands: FileHandle
    private let scratch: Scratch
    private let state = Lock(State())
    private let session = Lock("")

    /// Starts the browser and opens an address.
    init(_ program: String, opening address: String) async throws {
        scratch = try Scratch()
        let (input, output) = (scratch.file("commands"), scratch.file("answers"))
        guard mkfifo(input, 0o600) == 0, mkfifo(output, 0o600) == 0 else { throw Failure(text: "mkfifo failed") }
        // Open for both directions, neither end waits for the other.
        guard let writer = FileHandle(forUpdatingAtPath: input), let reader = FileHandle(forUpdatingAtPath: output)
        else {
            throw Failure(text: "the pipes cannot be opened")
        }
        commands = writer
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "exec \"$@\" 3<\"$COMMANDS\" 4>\"$ANSWERS\"", "sh", program, "--remote-debugging-pipe",
        ]
        process.arguments? += Chromium.options(scratch)
        process.environment = Chromium.environment(scratch).merging(["COMMANDS": input, "ANSWERS": output]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        // Nobody else ends the reader: it holds the pipe's other end itself.
        process.terminationHandler = { _ in reader.write(Data("null\0".utf8)) }
        try process.start()
        self.process = Lock(process)
        Thread.detachNewThread { [self] in read(reader) }
        let target = try await ask("Target.createTarget", ["url": "about:blank"])
        let attached = try await ask(
            "Target.attachToTarget",
            ["targetId": target["targetId"] ?? .null, "flatten": true]
        )
        session.withLock { $0 = attached["sessionId"]?.string ?? "" }
        _ = try await ask("Page.navigate", ["url": .string(address)])
    }

    /// Ends the browser.
    func end() { process.withLock { if $0.isRunning { $0.terminate() } } }

    /// The value of an expression in the page, once a promise is kept.
    func evaluate(_ expression: String) async throws -> JSONValue {
        let answer = try await ask(
            "Runtime.evaluate",
            ["expression": .string(expression), "awaitPromise": true, "returnByValue": true]
        )
        if let exception = answer["exceptionDetails"] { throw Failure(text: "\(expression): \(exception)") }
        return answer["result"]?["value"] ?? .null
    }

    /// Waits until a condition of the page holds.
    func wait(until condition: String) async throws {
        while true {
            // The page may be about to be replaced by the one that was navigated to.
            if let value = try? await evaluate(condition), value == true { return }
            if state.withLock({ $0.hasEnded }) { throw Failure(text: "the browser ended before: \(condition)") }
            try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(50)))
        }
    }

    /// Shows the page as a screen of this width and colour scheme, `light` or `dark`, does.
    func emulate(width: Int, height: Int = 900, scheme: String) async throws {
        _ = try await ask(
            "Emulation.setDeviceMetricsOverride",
            ["width": .int(width), "height": .int(height), "deviceScaleFactor": 1, "mobile": .bool(width < 600)]
        )
        _ = try await ask(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": .string(scheme)]]]
        )
    }

    /// The whole page as a PNG file.
    func screenshot() async throws -> Data {
        let answer = try await ask("Page.captureScreenshot", ["format": "png", "captureBeyondViewport": true])
        return Data(base64Encoded: answer["data"]?.string ?? "") ?? Data()
    }

    /// Presses and releases a key.
    func press(_ key: Key, shift: Bool = false) async throws {
        for type in [key.text == nil ? "rawKeyDown" : "keyDown", "keyUp"] {
            var event: [String: JSONValue] = [
                "type": .string(type), "key": .string(key.name), "code": .string(key.code),
                "windowsVirtualKeyCode": .int(key.number), "modifiers": shift ? 8 : 0,
            ]
            if let text = key.text, type == "keyDown" { event["text"] = .string(text) }
            _ = try await ask("Input.dispatchKeyEvent", .object(event))
        }
    }

    /// Types a text, key by key.
    func type(_ text: String) async throws {
        for character in text { try await press(.character(character)) }
    }

    private func ask(_ method: String, _ parameters: JSONValue) async throws -> JSONValue {
        let session = session.withLock { $0 }
        let answer = try await withCheckedThrowingContinuation { continuation in
            let id = state.withLock { state -> Int? in
                guard !state.hasEnded else { return nil }
                state.lastID += 1
                state.waiters[state.lastID] = continuation
                return state.lastID
            }
            guard let id else { return continuation.resume(throwing: Failure(text: "the browser has ended")) }
            var message: [String: JSONValue] = ["id": .int(id), "method": .string(method), "params": parameters]
            if !session.isEmpty { message["sessionId"] = .string(session) }
            commands.write(Data(JSONValue.object(message).bytes + [0]))
        }
        if let error = answer["error"] { throw Failure(text: "\(method): \(error)") }
        return answer["result"] ?? .null
    }

    private func read(_ reader: FileHandle) {
        var pending: [UInt8] = []
        while case let data = reader.availableData, !data.isEmpty {
            pending += data
            while let end = pending.firstIndex(of: 0) {
                let message = try? JSONValue(parsing: Array(pending[..<end]))
                pending.removeSubrange(...end)
                if message == .null { return finish() }
                guard let message, let id = message["id"]?.int else { continue }
                state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: message)
            }
        }
        finish()
    }

    private func finish() {
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume(throwing: Failure(text: "the browser has ended")) }
    }
}

extension DrivenBrowser {
    /// A key of a keyboard.
    struct Key {
        var name: String
        var code: String
        var number: Int
        var text: String?

        static let tab = Key(name: "Tab", code: "Tab", number: 9)
        static let enter = Key(name: "Enter", code: "Enter", number: 13, text: "\r")
        static let escape = Key(name: "Escape", code: "Escape", number: 27)
        static let up = Key(name: "ArrowUp", code: "ArrowUp", number: 38)
        static let down = Key(name: "ArrowDown", code: "ArrowDown", number: 40)

        static func character(_ character: Character) -> Key {
            Key(name: String(character), code: "", number: 0, text: String(character))
        }
    }
}
