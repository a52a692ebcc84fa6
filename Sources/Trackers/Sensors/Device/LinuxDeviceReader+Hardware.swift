internal import Instrument

extension LinuxDeviceReader {
    private static var processors: String { "/sys/devices/system/cpu" }

    func addProcessors(to properties: inout DeviceProperties) {
        let info = tree.lines("/proc/cpuinfo")
        let listed = info.count { $0.hasPrefix("processor") }
        let online = count(inList: Self.processors + "/online") ?? (listed > 0 ? listed : nil)
        properties.cpuCount = online
        properties.logicalCPUCount = count(inList: Self.processors + "/present") ?? online
        properties.physicalCPUCount = coreCount
        addCaches(to: &properties)
        let flags = Set(info.first { $0.hasPrefix("flags") }?.split(whereSeparator: \.isWhitespace) ?? [])
        properties.isSimulator = isSimulator(flags, isKnown: !info.isEmpty)
        properties.is64BitCapable = is64Bit(flags)
    }

    /// `0-3,8` denotes five processors.
    private func count(inList path: String) -> Int? {
        guard let text = tree.string(path) else { return nil }
        var count = 0
        for range in text.split(separator: ",") {
            let ends = range.split(separator: "-").map { Int($0) }
            guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first >= 0,
                last >= first,
                last < 1 << 20
            else { return nil }
            count += last - first + 1
        }
        return count > 0 ? count : nil
    }

    /// Threads of one core share its number and its package's number.
    private var coreCount: Int? {
        var cores: Set<[Int]> = []
        for name in tree.names(in: Self.processors) where name.hasPrefix("cpu") && Int(name.dropFirst(3)) != nil {
            let topology = "\(Self.processors)/\(name)/topology"
            guard let core = tree.integer(topology + "/core_id"),
                let package = tree.integer(topology + "/physical_package_id")
            else { continue }
            cores.insert([package, core])
        }
        return cores.isEmpty ? nil : cores.count
    }

    /// The first processor's (Linux, `Documentation/ABI/testing/sysfs-devices-system-cpu`).
    private func addCaches(to properties: inout DeviceProperties) {
        let folder = Self.processors + "/cpu0/cache"
        for name in tree.names(in: folder) where name.hasPrefix("index") {
            let cache = "\(folder)/\(name)"
            guard let level = tree.integer(cache + "/level") else { continue }
            let size = tree.string(cache + "/size").flatMap(Self.bytes)
            switch (level, tree.string(cache + "/type")) {
            case (1, "Data"):
                properties.l1DataCacheSize = size
                properties.cacheLineSize = tree.integer(cache + "/coherency_line_size").flatMap { $0 > 0 ? $0 : nil }
            case (1, "Instruction"): properties.l1InstructionCacheSize = size
            case (2, "Unified"), (2, "Data"): properties.l2CacheSize = size
            case (3, "Unified"), (3, "Data"): properties.l3CacheSize = size
            default: continue
            }
        }
    }

    /// `32K`, `8M`.
    private static func bytes(_ text: String) -> Int? {
        let factor = text.hasSuffix("K") ? 1 << 10 : text.hasSuffix("M") ? 1 << 20 : 1
        guard let number = Int(factor == 1 ? text[...] : text.dropLast()), number > 0 else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? nil : bytes
    }

    private func isSimulator(_ flags: Set<Substring>, isKnown: Bool) -> Bool? {
        if flags.contains("hypervisor") || tree.text("/.dockerenv") != .missing { return true }
        return isKnown ? false : nil
    }

    /// The flag `lm` on x86; other architectures have it in the machine's name.
    private func is64Bit(_ flags: Set<Substring>) -> Bool? {
        if !flags.isEmpty, flags.contains("lm") { return true }
        guard let machine = facts.machine else { return flags.isEmpty ? nil : false }
        return machine.contains("64") || machine == "s390x" || flags.contains("lm")
    }

    /// Signs of manipulation of machine or process. Links among system directories are normal on Linux and do not
    /// count; there are no known files of compromised devices.
    func addEvidence(to properties: inout DeviceProperties, preload: String?) {
        let directories = [
            "/bin", "/boot", "/etc", "/lib", "/lib64", "/sbin", "/usr", "/usr/bin", "/usr/lib", "/usr/sbin",
        ]
        properties.evidenceDirectoriesWritable = directories.filter { tree.isWritableByAnybody($0) }
        let everywhere = tree.lines("/etc/ld.so.preload").flatMap { $0.split(whereSeparator: \.isWhitespace) }
        let here = preload?.split { $0 == ":" || $0.isWhitespace } ?? []
        properties.evidenceLibrariesLoaded = (everywhere + here).map { String($0) }
    }
}
