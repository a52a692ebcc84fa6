#if os(Linux)
internal import Instrument
internal import InstrumentJSON
internal import InstrumentSensors

/// The readings of the sensors, one row for each sensor.
struct SensorTable: Sendable {
    struct Row {
        var name: String
        var text: String
        var json: JSONValue
    }

    let sensors: Sensors
    let reachability: NetworkReachability

    /// Starts the sensors that only report to listeners.
    func listen() -> [SensorRun] { [sensors.location.listen(), sensors.heading.listen()] }

    func rows() -> [Row] {
        reachability.update()
        return [
            row(of: sensors.accelerometer) { $0 }, row(of: sensors.gyroscope) { $0 },
            row(of: sensors.magnetometer) { $0 },
            row(of: sensors.deviceMotion) { $0 }, row(of: sensors.location) { $0 }, row(of: sensors.heading) { $0 },
            row("battery", sensors.battery.current()) { battery in
                var state = AppState()
                (state.batteryLevel, state.batteryState) = (battery.level, battery.state)
                return (
                    state.attributes.map { "\($0.name) \($0.value)" }.joined(separator: ", "),
                    JSONValue(state.attributes)
                )
            },
            row("orientation", sensors.orientation.current()) { ($0.rawValue, .string($0.rawValue)) },
            row("proximity", sensors.proximity.current()) { ($0 ? "close" : "nothing close", .bool($0)) },
            row("networkAddresses", sensors.networkAddresses.current()) { addresses in
                let text = addresses.isEmpty ? "none" : addresses.joined(separator: ", ")
                return (text, .array(addresses.map { .string($0) }))
            },
            Row(
                name: "reachability",
                text: reachability.isOnline ? "a default route" : "no default route",
                json: .bool(reachability.isOnline)
            ),
        ]
    }

    private func row<Reading, Record: AttributeRecord>(
        of sensor: Sensor<Reading>,
        _ record: (Reading) -> Record
    ) -> Row {
        row(sensor.kind.name, sensor.latest) { reading in
            let attributes = record(reading).attributes
            let parts = Record.fields.compactMap { field in
                attributes[AttributeName(field.name)].map {
                    "\(field.name) \($0)" + (field.unit.map { " " + $0 } ?? "")
                }
            }
            return (parts.joined(separator: ", "), JSONValue(attributes))
        }
    }

    private func row<Reading>(
        _ name: String,
        _ update: SensorUpdate<Reading>,
        _ say: (Reading) -> (String, JSONValue)
    ) -> Row {
        switch update {
        case .reading(let reading):
            let (text, json) = say(reading)
            return Row(name: name, text: text, json: json)
        case .absent(let absence):
            return Row(name: name, text: "absent (\(absence.rawValue))", json: ["absent": .string(absence.rawValue)])
        }
    }
}
#endif
