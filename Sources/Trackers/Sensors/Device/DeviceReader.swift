internal import Instrument

/// The app whose name and version are part of a device's properties.
public struct ApplicationIdentity: Hashable, Sendable {
    /// The name; nil takes the executable's name.
    package var name: String?
    /// Its build.
    package var version: String?
    /// Its version for people.
    package var shortVersion: String?
    /// The version of the collecting library.
    package var sdkVersion: String?

    /// Creates an identity.
    public init(
        name: String? = nil,
        version: String? = nil,
        shortVersion: String? = nil,
        sdkVersion: String? = nil
    ) {
        (self.name, self.version) = (name, version)
        (self.shortVersion, self.sdkVersion) = (shortVersion, sdkVersion)
    }
}

/// Reads the properties of a device.
public protocol DevicePropertiesSource: Sendable {
    /// Returns the current properties; reads a few small files.
    func properties() -> DeviceProperties
}

/// The results of the system calls that describe process and machine.
package struct ProcessFacts: Hashable, Sendable {
    /// The executable's path or name.
    package var executable: String?
    /// The kernel's name of the machine, for example `x86_64`.
    package var machine: String?
    /// A page's size in bytes.
    package var pageSize: Int?
    /// The libraries in `LD_PRELOAD`.
    package var preload: String?

    /// Creates facts.
    package init(executable: String? = nil, machine: String? = nil, pageSize: Int? = nil, preload: String? = nil) {
        (self.executable, self.machine) = (executable, machine)
        (self.pageSize, self.preload) = (pageSize, preload)
    }
}

/// Reads the properties of a Linux machine; omits unknown properties.
///
/// | property | from |
/// |---|---|
/// | names of the system | `/etc/os-release`, else `/usr/lib/os-release` (os-release(5)) |
/// | the device's name | `PRETTY_HOSTNAME` of `/etc/machine-info`, else the host's name |
/// | model, board | DMI (`/sys/class/dmi/id`), else the device tree |
/// | kernel | `/proc/sys/kernel` |
/// | processors, caches | `/proc/cpuinfo`, `/sys/devices/system/cpu` |
/// | memory | `/proc/meminfo` |
/// | screen | the mode that a connected connector prefers (`/sys/class/drm`) |
/// | vendor identifier | derived from `/etc/machine-id` for this app, never the original |
/// | simulator | a hypervisor's flag in `/proc/cpuinfo`, `/.dockerenv` |
public struct LinuxDeviceReader: DevicePropertiesSource {
    let tree: FileTree
    private let app: ApplicationIdentity
    let facts: ProcessFacts
    private let identifiers: InstallationIdentifiers?

    /// Creates a reader of this machine.
    ///
    /// - Parameters:
    ///   - app: the app.
    ///   - identifiers: the store of the first vendor identifier; nil stores none.
    public init(app: ApplicationIdentity = ApplicationIdentity(), identifiers: InstallationIdentifiers? = nil) {
        self.init(app: app, root: "/", identifiers: identifiers)
    }

    /// Creates a reader of the machine whose files are below `root`, with the results of system calls.
    package init(
        app: ApplicationIdentity = ApplicationIdentity(),
        root: String,
        facts: ProcessFacts = .ofThisProcess(),
        identifiers: InstallationIdentifiers? = nil
    ) {
        tree = FileTree(root: root)
        (self.app, self.facts, self.identifiers) = (app, facts, identifiers)
    }

    /// Reads all properties; nothing is cached.
    public func properties() -> DeviceProperties {
        var properties = DeviceProperties()
        addApp(to: &properties)
        addSystem(to: &properties)
        addKernel(to: &properties)
        addModel(to: &properties)
        addScreen(to: &properties)
        addIdentifiers(to: &properties)
        addProcessors(to: &properties)
        properties.pageSize = facts.pageSize
        properties.memorySize = memorySize
        addEvidence(to: &properties, preload: facts.preload)
        return properties
    }

    private var appName: String? {
        app.name ?? facts.executable.flatMap { $0.split(separator: "/").last.map { String($0) } }
    }

    private func addApp(to properties: inout DeviceProperties) {
        properties.appName = appName
        properties.appVersion = app.version
        properties.appVersionShort = app.shortVersion
        properties.sdkVersion = app.sdkVersion
    }

    private func addSystem(to properties: inout DeviceProperties) {
        let paths = ["/etc/os-release", "/usr/lib/os-release"]
        let release = paths.lazy.map { assignments(in: $0) }.first { !$0.isEmpty } ?? [:]
        properties.systemName = release["NAME"]
        properties.systemVersion = release["VERSION_ID"]
        let host = tree.string("/proc/sys/kernel/hostname") ?? tree.string("/etc/hostname")
        properties.hostName = host
        properties.deviceName = assignments(in: "/etc/machine-info")["PRETTY_HOSTNAME"] ?? host
    }

    private func addKernel(to properties: inout DeviceProperties) {
        properties.osType = tree.string("/proc/sys/kernel/ostype")
        properties.osRelease = tree.string("/proc/sys/kernel/osrelease")
        properties.kernelVersion = tree.string("/proc/sys/kernel/version")
        properties.kernelBootIdentifier = tree.string("/proc/sys/kernel/random/boot_id")
    }

    private func addModel(to properties: inout DeviceProperties) {
        let folder = "/sys/class/dmi/id/"
        let (vendor, product) = (tree.string(folder + "sys_vendor"), tree.string(folder + "product_name"))
        let board = tree.string("/proc/device-tree/model")
        let named = [vendor, product].compactMap { $0 }.joined(separator: " ")
        properties.model = named.isEmpty ? board : named
        properties.hardwareMachine = product ?? board ?? facts.machine
        properties.hardwareModel = tree.string(folder + "board_name") ?? compatible
    }

    /// The first name of the machine in its device tree: `maker,board` (Devicetree Specification, section 2.3.1).
    private var compatible: String? {
        tree.string("/proc/device-tree/compatible")?.split(separator: "\0").first.map { String($0) }
    }

    /// The first mode of the first connected connector, which is the screen's preferred mode.
    private func addScreen(to properties: inout DeviceProperties) {
        let folder = "/sys/class/drm/"
        for connector in tree.names(in: folder) where tree.string(folder + connector + "/status") == "connected" {
            guard let mode = tree.lines(folder + connector + "/modes").first else { continue }
            // `1920x1080`, or `1920x1080i`.
            let sides = mode.split(separator: "x").map { Int($0.prefix(while: \.isNumber)) }
            guard sides.count == 2, let width = sides[0], let height = sides[1], width > 0, height > 0 else { continue }
            (properties.screenWidth, properties.screenHeight) = (width, height)
            return
        }
    }

    private func addIdentifiers(to properties: inout DeviceProperties) {
        guard let machine = MachineIdentifier.read(tree), let name = appName else { return }
        let vendor = MachineIdentifier.derived(from: machine, for: MachineIdentifier.app(named: name))
        properties.vendorIdentifier = vendor
        properties.initialVendorIdentifier = try? identifiers?.initialVendor(present: vendor)
    }

    private var memorySize: Int? {
        let line = tree.lines("/proc/meminfo").first { $0.hasPrefix("MemTotal:") }
        guard let cells = line?.split(whereSeparator: \.isWhitespace), cells.count > 1, let kibibytes = Int(cells[1])
        else { return nil }
        let (bytes, overflow) = kibibytes.multipliedReportingOverflow(by: 1024)
        return overflow || bytes < 0 ? nil : bytes
    }

    /// `NAME=value` lines, whose values may be in quotes (os-release(5), machine-info(5)); backslashes protect one
    /// character.
    private func assignments(in path: String) -> [String: String] {
        var values: [String: String] = [:]
        for line in tree.lines(path) where !line.hasPrefix("#") {
            guard let sign = line.firstIndex(of: "=") else { continue }
            let value = Self.unquoted(line[line.index(after: sign)...])
            if !value.isEmpty { values[String(line[..<sign])] = value }
        }
        return values
    }

    private static func unquoted(_ text: Substring) -> String {
        var (value, isProtected) = ("", false)
        let quote = text.first.flatMap { $0 == "\"" || $0 == "'" ? $0 : nil }
        for character in quote == nil ? text : text.dropFirst() {
            if isProtected {
                value.append(character)
                isProtected = false
            } else if character == "\\", quote != "'" {
                isProtected = true
            } else if character == quote {
                break
            } else {
                value.append(character)
            }
        }
        return value
    }
}
