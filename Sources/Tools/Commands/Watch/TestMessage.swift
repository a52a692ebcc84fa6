internal import ArgumentParser
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentHTTP
internal import InstrumentMonitor
internal import InstrumentMonitorRuntime
internal import InstrumentTerminal
internal import InstrumentText
internal import InstrumentWatch

/// `watch --test-message RECEIVER`: sends a message to a receiver and prints what the service answered.
struct TestMessage {
    private let name: String
    private let receiver: AlertReceiver
    private let sender: any MessageSender
    private let link: String?

    /// Exits with code 2 if the configuration has no such receiver, or its secrets cannot be read.
    init(to name: String, of configuration: WatchConfiguration, _ factory: WatchBackends) throws {
        guard let receiver = configuration.receivers[name] else {
            let known = configuration.receivers.keys.sorted().map { "'\($0)'" }.joined(separator: ", ")
            throw ValidationError(
                "--test-message must name a receiver of `notify` (found '\(name)'); "
                    + (known.isEmpty ? "the configuration has none" : "the configuration has \(known)")
            )
        }
        (self.name, self.receiver) = (name, receiver)
        link = configuration.link.map { $0.description }
        do throws(WatchSetupError) { sender = try factory.sender(name, receiver) } catch {
            throw ValidationError(error.description)
        }
    }

    /// Sends the message, and what ends it to a service that keeps incidents; exits with code 1 if one did not arrive.
    func run(_ clock: some SchedulingClock, _ terminal: Terminal) async throws {
        try await send(.opens, clock.wallTime, terminal)
        if sender.keepsIncidents { try await send(.closes, clock.wallTime, terminal) }
    }

    private func send(_ kind: AlertMessage.Kind, _ now: WallTime, _ terminal: Terminal) async throws {
        let result = await sender.send(QueuedMessage(Self.message(kind, now, link)))
        let verb = kind == .closes ? "the end of the message" : "the message"
        let service = "\(name) (\(receiver.service.key))"
        guard let failure = result.outcome.failure else {
            let answer = result.answer.map { "; the service answered: \($0)" } ?? ""
            return try terminal.output("\(service) has accepted \(verb)\(answer)\n")
        }
        terminal.note("player-monitor: \(service) has not accepted \(verb): \(failure)")
        throw ExitCode(ExitStatus.failed.rawValue)
    }

    /// The same incident at any time, so that a test that was broken off leaves no second one behind.
    private static func message(_ kind: AlertMessage.Kind, _ now: WallTime, _ link: String?) -> AlertMessage {
        var message = AlertMessage(alert: "test", host: "player-monitor", reason: "", kind: kind)
        (message.title, message.severity, message.link) = ("This is a test message of player-monitor", .info, link)
        message.incident = "player-monitor-test"
        message.sent = now
        message.add(AlertMessage.Item(stream: "test", labels: ["test": "true"], since: now))
        message.seal()
        return message
    }
}
