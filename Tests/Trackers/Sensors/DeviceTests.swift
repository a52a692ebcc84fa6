import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentSensors

@Suite("Device", .ownThread)
struct DeviceTests {
    static let files = [
        "/etc/os-release": "# comment\nNAME=\"Debian GNU/Linux\"\nVERSION_ID='12'\nBROKEN\nEMPTY=\n",
        "/etc/machine-info": "PRETTY_HOSTNAME=\"Anna's \\\"Laptop\\\"\"\n",
        "/etc/machine-id": "0123456789abcdef0123456789abcdef\n",
        "/proc/sys/kernel/hostname": "laptop\n", "/proc/sys/kernel/ostype": "Linux\n",
        "/proc/sys/kernel/osrelease": "6.1.0\n",
        "/proc/sys/kernel/version": "#1 SMP Debian\n", "/proc/sys/kernel/random/boot_id": "b1b1\n",
        "/sys/class/dmi/id/sys_vendor": "LENOVO\n", "/sys/class/dmi/id/product_name": "21AH\n",
        "/sys/class/dmi/id/board_name": "B1\n",
        "/proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu lm sse\n\nprocessor\t: 1\nflags\t\t: fpu lm sse\n",
        "/proc/meminfo": "MemTotal:       16316412 kB\nMemFree: 1 kB\n",
        "/sys/devices/system/cpu/online": "0-2,4\n", "/sys/devices/system/cpu/present": "0-7\n",
        "/sys/devices/system/cpu/cpu0/topology/core_id": "0\n",
        "/sys/devices/system/cpu/cpu0/topology/physical_package_id": "0\n",
        "/sys/devices/system/cpu/cpu1/topology/core_id": "0\n",
        "/sys/devices/system/cpu/cpu1/topology/physical_package_id": "0\n",
        "/sys/devices/system/cpu/cpu2/topology/core_id": "1\n",
        "/sys/devices/system/cpu/cpu2/topology/physical_package_id": "0\n",
        "/sys/devices/system/cpu/cpu0/cache/index0/level": "1\n",
        "/sys/devices/system/cpu/cpu0/cache/index0/type": "Data\n",
        "/sys/devices/system/cpu/cpu0/cache/index0/size": "48K\n",
        "/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size": "64\n",
        "/sys/devices/system/cpu/cpu0/cache/index1/level": "1\n",
        "/sys/devices/system/cpu/cpu0/cache/index1/type": "Instruction\n",
        "/sys/devices/system/cpu/cpu0/cache/index1/size": "32K\n",
        "/sys/devices/system/cpu/cpu0/cache/index2/level": "2\n",
        "/sys/devices/system/cpu/cpu0/cache/index2/type": "Unified\n",
        "/sys/devices/system/cpu/cpu0/cache/index2/size": "1280K\n",
        "/sys/devices/system/cpu/cpu0/cache/index3/level": "3\n",
        "/sys/devices/system/cpu/cpu0/cache/index3/type": "Unified\n",
        "/sys/devices/system/cpu/cpu0/cache/index3/size": "18M\n",
        "/sys/class/drm/card0-HDMI-A-1/status": "disconnected\n", "/sys/class/drm/card0-eDP-1/status": "connected\n",
        "/sys/class/drm/card0-eDP-1/modes": "1920x1200\n1920x1080\n",
    ]
    private let facts = ProcessFacts(executable: "/usr/bin/player", machine: "x86_64", pageSize: 4096, preload: "")

    private func read(_ tree: Tree, _ facts: ProcessFacts? = nil) -> DeviceProperties {
        LinuxDeviceReader(app: ApplicationIdentity(version: "7"), root: tree.root, facts: facts ?? self.facts)
            .properties()
    }

    @Test("The reader reads all properties of a laptop")
    func laptop() throws {
        var expected = DeviceProperties()
        (expected.appName, expected.appVersion) = ("player", "7")
        (expected.systemName, expected.systemVersion) = ("Debian GNU/Linux", "12")
        (expected.deviceName, expected.hostName) = (#"Anna's "Laptop""#, "laptop")
        (expected.osType, expected.osRelease, expected.kernelVersion) = ("Linux", "6.1.0", "#1 SMP Debian")
        expected.kernelBootIdentifier = "b1b1"
        (expected.model, expected.hardwareMachine, expected.hardwareModel) = ("LENOVO 21AH", "21AH", "B1")
        (expected.cpuCount, expected.logicalCPUCount, expected.physicalCPUCount) = (4, 8, 2)
        (expected.memorySize, expected.pageSize) = (16_316_412 * 1024, 4096)
        (expected.l1DataCacheSize, expected.l1InstructionCacheSize) = (48 << 10, 32 << 10)
        (expected.l2CacheSize, expected.l3CacheSize, expected.cacheLineSize) = (1280 << 10, 18 << 20, 64)
        (expected.screenWidth, expected.screenHeight) = (1920, 1200)
        (expected.isSimulator, expected.is64BitCapable) = (false, true)
        (expected.evidenceDirectoriesWritable, expected.evidenceLibrariesLoaded) = ([], [])
        var properties = read(try Tree(Self.files))
        #expect(properties.vendorIdentifier != nil)
        properties.vendorIdentifier = nil
        #expect(properties == expected)
    }

    @Test("Unknown properties are omitted field by field")
    func nothing() throws {
        var expected = DeviceProperties()
        (expected.evidenceDirectoriesWritable, expected.evidenceLibrariesLoaded) = ([], [])
        #expect(LinuxDeviceReader(root: try Tree().root, facts: ProcessFacts()).properties() == expected)
    }

    @Test("The reader recognises a device tree, a virtual machine, a container and injected libraries")
    func others() throws {
        let board = read(
            try Tree([
                "/proc/device-tree/model": "Raspberry Pi 4\0",
                "/proc/device-tree/compatible": "raspberrypi,4\0brcm,x\0",
            ])
        )
        #expect(board.model == "Raspberry Pi 4")
        #expect(board.hardwareModel == "raspberrypi,4")
        #expect(read(try Tree(["/proc/cpuinfo": "flags : hypervisor lm\n"])).isSimulator == true)
        #expect(read(try Tree(["/.dockerenv": ""])).isSimulator == true)
        let tree = try Tree(["/etc/ld.so.preload": "/lib/a.so\n", "/usr/bin/x": ""])
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: tree.root + "/usr")
        let touched = read(tree, ProcessFacts(preload: "b.so:c.so"))
        #expect(touched.evidenceLibrariesLoaded == ["/lib/a.so", "b.so", "c.so"])
        #expect(touched.evidenceDirectoriesWritable == ["/usr"])
    }

    @Test("The reader does not trap on random file contents", arguments: Rounds.seeds(100))
    func anything(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let texts = [
            "", "0", "-1", "99999999999999999999", "9223372036854775807K", "0-9223372036854775807", "5-1", "-", "x",
            "1x", "é",
            "MemTotal: 9223372036854775807 kB", "NAME=\"\\", "1920x1080x3", "=", "processor", "flags",
        ]
        var files = Self.files
        for path in files.keys { files[path] = texts.randomElement(using: &random) }
        let properties = read(try Tree(files))
        for field in DeviceProperties.fields where field.unit != nil {
            if case .int(let value)? = properties.attributes[AttributeName(field.name)] { #expect(value >= 0) }
        }
    }

    @Test(
        "HMAC-SHA256 agrees with the examples of RFC 4231",
        arguments: [
            (
                "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                "4a656665", "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                String(repeating: "aa", count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ]
    )
    func hmac(key: String, message: String, digest: String) {
        let bytes = stride(from: 0, to: key.count, by: 2).compactMap { UInt8(key.dropFirst($0).prefix(2), radix: 16) }
        let result = HMAC.sha256(of: Array(message.utf8), key: bytes)
        #expect(result.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == digest)
    }

    @Test("The machine's identifier is derived as by systemd, and the original is never shown")
    func derived() throws {
        let tree = try Tree(Self.files)
        let machine = try #require(MachineIdentifier.read(tree.files))
        let app = MachineIdentifier.app(named: "player")
        let id = MachineIdentifier.derived(from: machine, for: app)
        #expect(id != MachineIdentifier.derived(from: machine, for: MachineIdentifier.app(named: "other")))
        #expect(id.dropFirst(14).first == "4")
        for field in read(tree).attributes { #expect(!field.value.description.contains("0123456789abcdef")) }
        guard isInstalled("systemd-id128", for: "comparison with systemd's derivation"),
            let own = MachineIdentifier.read(FileTree(root: "/"))
        else { return }
        let (process, output) = (Process(), Pipe.forChild())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/systemd-id128")
        process.arguments = ["machine-id", "-a", app.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()]
        process.standardOutput = output
        try process.start()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let ours = MachineIdentifier.derived(from: own, for: app).replacing("-", with: "").lowercased()
        #expect(said.trimmingCharacters(in: .whitespacesAndNewlines) == ours)
    }

    @Test(
        "An invalid machine identifier counts as absent",
        arguments: ["", "uninitialized", String(repeating: "0", count: 32), "0123", "zz"]
    )
    func noIdentifier(text: String) throws {
        #expect(MachineIdentifier.read(try Tree(["/etc/machine-id": text]).files) == nil)
    }

    @Test("The reader reads the properties of the test machine")
    func here() {
        let properties = LinuxDeviceReader().properties()
        #expect(properties.osType == "Linux")
        #expect(properties.pageSize.map { $0 >= 4096 } == true)
        #expect(properties.memorySize.map { $0 > 0 } == true)
    }
}

@Suite("Installation", .ownThread)
struct InstallationTests {
    @Test("An identifier is created once and stored in a file that only the user may read")
    func kept() throws {
        let tree = try Tree()
        let environment = ["XDG_STATE_HOME": tree.root + "/deep/state", "HOME": "/nowhere"]
        let store = try #require(InstallationIdentifiers(app: "player", environment: environment))
        let id = try store.installation()
        #expect(try #require(InstallationIdentifiers(app: "player", environment: environment)).installation() == id)
        let path = tree.root + "/deep/state/player/installation-id"
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try store.initialVendor(present: id) == id)
        #expect(try store.initialVendor(present: RandomSource().identifier()) == id)
    }

    @Test("The default state folder is in the home directory, and a relative XDG path is ignored")
    func home() throws {
        let tree = try Tree()
        let store = try #require(
            InstallationIdentifiers(app: "a/b", environment: ["XDG_STATE_HOME": "relative", "HOME": tree.root])
        )
        _ = try store.installation()
        #expect(FileManager.default.fileExists(atPath: tree.root + "/.local/state/a_b/installation-id"))
        #expect(InstallationIdentifiers(app: "a", environment: [:]) == nil)
        #expect(InstallationIdentifiers(app: "..", environment: ["HOME": "/"]) == nil)
    }

    @Test("Invalid content is replaced by an identifier", arguments: ["", "x", String(repeating: "g", count: 36)])
    func damaged(text: String) throws {
        let tree = try Tree(["/installation-id": text])
        let store = InstallationIdentifiers(directory: tree.root)
        let id = try store.installation()
        #expect(id.count == 36)
        #expect(try store.installation() == id)
    }

    @Test("A file that cannot be read is an error, and is not replaced")
    func unreadable() throws {
        let tree = try Tree()
        // A link to itself cannot be read, also not by root.
        try FileManager.default.createSymbolicLink(
            atPath: tree.root + "/installation-id",
            withDestinationPath: tree.root + "/installation-id"
        )
        #expect(throws: SensorError.self) { try InstallationIdentifiers(directory: tree.root).installation() }
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: tree.root + "/installation-id")
                == tree.root + "/installation-id"
        )
    }

    @Test("An identifier that cannot be stored is an error")
    func unwritable() throws {
        let tree = try Tree(["/file": ""])
        #expect(throws: SensorError.self) {
            try InstallationIdentifiers(directory: tree.root + "/file/state").installation()
        }
    }

    @Test("Processes that start at the same time agree on one identifier", arguments: 0..<10)
    func together(round: Int) async throws {
        let tree = try Tree()
        let ids = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<16 {
                group.addTask { try? InstallationIdentifiers(directory: tree.root + "/state").installation() }
            }
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
        #expect(!ids.contains(nil))
    }
}
