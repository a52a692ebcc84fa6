import Instrument
import InstrumentInflux
import InstrumentKafka
import InstrumentNATS
import InstrumentTransport
import QueueChildPlan

/// The backends for servers that operators run.
enum Sinks {
    /// The backend of a target: `kafka:BROKERS/TOPIC`, `nats:SERVERS/SUBJECT` or `influx:ADDRESS?db=DATABASE`; nil for
    /// other targets.
    static func backend(_ plan: BackendPlan) throws -> (any Backend)? {
        let parts = plan.target.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        let name = BackendName(plan.name)
        // Without a time limit, which the clock of the deliveries would reach within milliseconds.
        let policy = DeliveryPolicy(maxCount: 100, maxAge: .zero, timeout: nil)
        switch parts[0] {
        case "kafka":
            let configuration = KafkaConfiguration(name: name, timeout: .seconds(5), policy: policy)
            return try KafkaBackend(KafkaEndpoint(parts[1]), configuration: configuration)
        case "nats":
            let configuration = NATSConfiguration(name: name, timeout: .seconds(5), policy: policy)
            return try NATSBackend(NATSEndpoint(parts[1]), configuration: configuration)
        case "influx":
            let configuration = InfluxConfiguration(name: name, timeout: .seconds(5), policy: policy)
            let endpoint = try InfluxEndpoint(parameters: HTTPURL(parts[1]))
            return try InfluxBackend(endpoint, configuration: configuration, transport: SystemTransport())
        default: return nil
        }
    }
}
