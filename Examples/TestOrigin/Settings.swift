internal import ArgumentParser
internal import InstrumentOrigin

/// The settings from the options and the scenario file: an option overrides the file; the faults of both apply.
struct Settings {
    var schedule = DeliverySchedule.unlimited
    var faults: [FaultRule] = []
    var configuration = OriginConfiguration()

    init(_ command: TestOrigin) throws {
        do {
            if let path = command.scenario {
                let scenario = try OriginScenario(contentsOf: path)
                schedule = scenario.schedule
                faults = scenario.faults
                scenario.apply(to: &configuration)
            }
            if let text = command.schedule { schedule = try DeliverySchedule(text) }
            faults = try command.fault.map { try FaultRule($0) } + faults
        } catch {
            throw ValidationError("\(error)")
        }
        configuration.host = command.host
        configuration.port = command.port
        configuration.threads = command.threads
        configuration.sharing = command.sharing ?? configuration.sharing
        configuration.scope = command.scope ?? configuration.scope
    }
}
