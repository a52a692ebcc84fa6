internal import Instrument

/// The machine's battery, from the kernel (Linux, `Documentation/ABI/testing/sysfs-class-power`).
struct PowerSupply: Sendable {
    private static let folder = "/sys/class/power_supply"

    let tree: FileTree

    /// The first battery that is present; batteries of mice and headphones (`scope` is `Device`) do not count.
    func read() -> SensorUpdate<Battery> {
        for supply in tree.names(in: Self.folder).map({ Self.folder + "/" + $0 }) {
            guard tree.string(supply + "/type") == "Battery", tree.string(supply + "/scope") != "Device",
                tree.string(supply + "/present") != "0"
            else { continue }
            let percent = tree.string(supply + "/capacity").flatMap { sysfsNumber($0) }
            let level = percent.flatMap { (0...100).contains($0) ? $0 / 100 : nil }
            return .reading(Battery(level: level, state: state(tree.string(supply + "/status"))))
        }
        return .absent(.missing)
    }

    private func state(_ status: String?) -> BatteryState {
        switch status {
        case "Charging": .charging
        case "Full": .full
        case "Discharging", "Not charging": .unplugged
        default: .unknown
        }
    }
}
