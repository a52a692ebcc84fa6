internal import Instrument

/// A sensor of three axes of the kernel's Industrial I/O (`/sys/bus/iio/devices`; Linux,
/// `Documentation/ABI/testing/sysfs-bus-iio`).
///
/// Value = (raw + offset) × scale, then the mount matrix, then the unit. An axis' own scale and offset win over the
/// shared ones. An unreadable axis is omitted alone; an existing scale, offset or matrix with an invalid value gives
/// no reading. The device is looked up at each reading, because it may appear and disappear.
struct IIOChannel: Sendable {
    static let devices = "/sys/bus/iio/devices"

    /// The channel's name in files: `accel`, `anglvel`, `magn`.
    let name: String
    /// The files that may hold the matrix, in order.
    let matrixNames: [String]
    /// The factor of the kernel's unit.
    let factor: Double
    let tree: FileTree

    /// From m/s² to g: standard gravity is 9.80665 m/s² (BIPM, CGPM 3, 1901).
    static func accelerometer(_ tree: FileTree) -> IIOChannel {
        IIOChannel(
            name: "accel",
            matrixNames: ["mount_matrix", "in_accel_mount_matrix", "in_mount_matrix"],
            factor: 1 / 9.80665,
            tree: tree
        )
    }

    /// rad/s.
    static func gyroscope(_ tree: FileTree) -> IIOChannel {
        IIOChannel(
            name: "anglvel",
            matrixNames: ["mount_matrix", "in_anglvel_mount_matrix", "in_mount_matrix"],
            factor: 1,
            tree: tree
        )
    }

    /// From gauss to µT: one gauss is 100 µT.
    static func magnetometer(_ tree: FileTree) -> IIOChannel {
        IIOChannel(
            name: "magn",
            matrixNames: ["mount_matrix", "in_magn_mount_matrix", "in_mount_matrix"],
            factor: 100,
            tree: tree
        )
    }

    /// One reading of all axes.
    func read() -> SensorUpdate<SensorVector> {
        guard let device = device() else { return .absent(.missing) }
        guard let matrix = matrix(of: device) else { return .absent(.unreadable) }
        let axes = matrix.applied(to: ["x", "y", "z"].map { value(of: $0, in: device) })
        let scaled = axes.map { $0.map { $0 * factor } }.map { $0.flatMap { $0.isFinite ? $0 : nil } }
        let vector = SensorVector(x: scaled[0], y: scaled[1], z: scaled[2])
        if !vector.isEmpty { return .reading(vector) }
        return .absent(hasRawFile(device) ? .unreadable : .missing)
    }

    /// The first device that has one of the axes.
    private func device() -> String? {
        tree.names(in: Self.devices).lazy
            .filter { $0.hasPrefix("iio:device") }
            .map { Self.devices + "/" + $0 }
            .first { hasRawFile($0) }
    }

    private func hasRawFile(_ device: String) -> Bool {
        ["x", "y", "z"].contains { tree.text("\(device)/in_\(name)_\($0)_raw") != .missing }
    }

    private func value(of axis: String, in device: String) -> Double? {
        guard let raw = tree.string("\(device)/in_\(name)_\(axis)_raw").flatMap({ sysfsNumber($0) }),
            let offset = correction("offset", of: axis, in: device, otherwise: 0),
            let scale = correction("scale", of: axis, in: device, otherwise: 1)
        else { return nil }
        let value = (raw + offset) * scale
        return value.isFinite ? value : nil
    }

    /// Returns the axis' own value, else the shared value, else `neutral`; nil if the file contains no number.
    private func correction(_ what: String, of axis: String, in device: String, otherwise neutral: Double) -> Double? {
        for file in ["in_\(name)_\(axis)_\(what)", "in_\(name)_\(what)"] {
            switch tree.text("\(device)/\(file)") {
            case .text(let text): return sysfsNumber(text)
            case .unreadable: return nil
            case .missing: continue
            }
        }
        return neutral
    }

    /// Returns nil for an invalid matrix, because the axes would be wrong.
    private func matrix(of device: String) -> MountMatrix? {
        for file in matrixNames {
            switch tree.text("\(device)/\(file)") {
            case .text(let text): return MountMatrix(text)
            case .unreadable: return nil
            case .missing: continue
            }
        }
        return .identity
    }
}

/// A proximity sensor of the kernel's Industrial I/O: something is close if the value reaches the kernel's near level
/// (`in_proximity_nearlevel`). Without that level there is no reading.
struct IIOProximity: Sendable {
    let tree: FileTree

    func read() -> SensorUpdate<Bool> {
        let devices = tree.names(in: IIOChannel.devices).filter { $0.hasPrefix("iio:device") }
        for device in devices.map({ IIOChannel.devices + "/" + $0 }) {
            let raw = tree.text(device + "/in_proximity_raw")
            if raw == .missing { continue }
            guard case .text(let text) = raw, let value = sysfsNumber(text),
                let near = tree.string(device + "/in_proximity_nearlevel").flatMap({ sysfsNumber($0) })
            else { return .absent(.unreadable) }
            return .reading(value >= near)
        }
        return .absent(.missing)
    }
}
