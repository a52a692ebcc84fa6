/// What a device is (`ios_device_properties`). What is nil is left out.
public struct SiftDeviceProperties: Hashable, Sendable {
    /// The app's name.
    public var appName: String?
    /// The app's build.
    public var appVersion: String?
    /// The app's version for people.
    public var appVersionShort: String?
    /// The version of what collects.
    public var sdkVersion: String?
    /// What the device is called.
    public var deviceName: String?
    /// The operating system.
    public var deviceSystemName: String?
    /// The operating system's version.
    public var deviceSystemVersion: String?
    /// The device's identifier for this vendor.
    public var deviceIFV: String?
    /// The first such identifier that was seen.
    public var initialDeviceIFV: String?
    /// The mobile carrier.
    public var mobileCarrierName: String?
    /// The carrier's country, ISO 3166-1.
    public var mobileISOCountryCode: String?
    /// The carrier's MCC.
    public var mobileCountryCode: String?
    /// The carrier's MNC.
    public var mobileNetworkCode: String?
    /// The hardware's model identifier.
    public var deviceHardwareMachine: String?
    /// Files that only a device that was broken into has; `[]` when looked for and not found.
    public var evidenceFilesPresent: [String]?
    /// Directories that are links though they should not be; `[]` when there are none.
    public var evidenceDirectoriesSymlinked: [String]?
    /// Directories that can be written to though they should not; `[]` when there are none.
    public var evidenceDirectoriesWritable: [String]?
    /// Libraries that were loaded by others; `[]` when there are none.
    public var evidenceDyldsPresent: [String]?
    /// The kind of device. Legacy.
    public var deviceModel: String?
    /// The kind of device in the person's language. Legacy.
    public var deviceLocalizedModel: String?
    /// The advertising identifier. Legacy.
    public var deviceIFA: String?
    /// The board. Legacy.
    public var deviceHardwareModel: String?
    /// The kernel's version. Legacy.
    public var deviceKernelVersion: String?
    /// Which start of the kernel this is. Legacy.
    public var deviceKernelBootSessionUUID: String?
    /// The host's name. Legacy.
    public var deviceHostName: String?
    /// The kernel's kind. Legacy.
    public var deviceOSType: String?
    /// The kernel's release. Legacy.
    public var deviceOSRelease: String?
    /// The screen's width. Legacy.
    public var deviceScreenWidth: Int?
    /// The screen's height. Legacy.
    public var deviceScreenHeight: Int?
    /// The memory's size in bytes. Legacy.
    public var deviceMemorySize: Int?
    /// A page's size in bytes. Legacy.
    public var devicePageSize: Int?
    /// Processors. Legacy.
    public var cpuCount: Int?
    /// Physical processors. Legacy.
    public var physicalCPUCount: Int?
    /// Logical processors. Legacy.
    public var logicalCPUCount: Int?
    /// A cache line's size in bytes. Legacy.
    public var cacheLineSize: Int?
    /// The first data cache's size in bytes. Legacy.
    public var l1DataCacheSize: Int?
    /// The first instruction cache's size in bytes. Legacy.
    public var l1InstructionCacheSize: Int?
    /// The second cache's size in bytes. Legacy.
    public var l2CacheSize: Int?
    /// The third cache's size in bytes. Legacy.
    public var l3CacheSize: Int?
    /// Whether it is a simulator. Legacy.
    public var isSimulator: Bool?
    /// Whether it has 64 bits. Legacy.
    public var is64BitCapable: Bool?

    /// Creates properties that say nothing.
    public init() {}
}
