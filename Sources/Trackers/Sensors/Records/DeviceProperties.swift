internal import Instrument

/// The properties of a device. Unknown fields are nil and omitted.
///
/// `Action.deviceProperties` carries the properties, one attribute for each field.
public struct DeviceProperties: AttributeRecord {
    /// The app's name.
    package var appName: String?
    /// The app's build.
    package var appVersion: String?
    /// The app's version for people.
    package var appVersionShort: String?
    /// The version of the collecting library.
    package var sdkVersion: String?
    /// The device's name.
    package var deviceName: String?
    /// The operating system.
    package var systemName: String?
    /// The operating system's version.
    package var systemVersion: String?
    /// The identifier of the device for this app; the same after a new installation of the app.
    package var vendorIdentifier: String?
    /// The first such identifier of this installation.
    package var initialVendorIdentifier: String?
    /// The mobile carrier.
    package var mobileCarrierName: String?
    /// The carrier's country, ISO 3166-1.
    package var mobileISOCountryCode: String?
    /// The carrier's MCC (ITU-T E.212).
    package var mobileCountryCode: String?
    /// The carrier's MNC (ITU-T E.212).
    package var mobileNetworkCode: String?
    /// The hardware's model identifier; the kernel's name of the machine where it has none.
    package var hardwareMachine: String?
    /// Files that exist only on a compromised (jailbroken or rooted) device; empty if none was found.
    package var evidenceFilesPresent: [String]?
    /// Directories that are unexpected links; empty if none was found.
    package var evidenceDirectoriesSymlinked: [String]?
    /// System directories that every user may write to; empty if none was found.
    package var evidenceDirectoriesWritable: [String]?
    /// Libraries that were injected into the app; empty if none was found.
    package var evidenceLibrariesLoaded: [String]?
    /// The kind of device, with its manufacturer if known.
    package var model: String?
    /// The kind of device in the person's language.
    package var localizedModel: String?
    /// The advertising identifier.
    package var advertisingIdentifier: String?
    /// The board.
    package var hardwareModel: String?
    /// The kernel's version.
    package var kernelVersion: String?
    /// The identifier of the kernel's boot.
    package var kernelBootIdentifier: String?
    /// The host's name.
    package var hostName: String?
    /// The kernel's kind.
    package var osType: String?
    /// The kernel's release.
    package var osRelease: String?
    /// The screen's width in pixels.
    package var screenWidth: Int?
    /// The screen's height in pixels.
    package var screenHeight: Int?
    /// The memory's size in bytes.
    package var memorySize: Int?
    /// A page's size in bytes.
    package var pageSize: Int?
    /// The number of online processors.
    package var cpuCount: Int?
    /// Processor cores.
    package var physicalCPUCount: Int?
    /// The number of processors, counting each thread of a core.
    package var logicalCPUCount: Int?
    /// A cache line's size in bytes.
    package var cacheLineSize: Int?
    /// In bytes.
    package var l1DataCacheSize: Int?
    /// In bytes.
    package var l1InstructionCacheSize: Int?
    /// In bytes.
    package var l2CacheSize: Int?
    /// In bytes.
    package var l3CacheSize: Int?
    /// Whether the device is simulated: a virtual machine or a container.
    package var isSimulator: Bool?
    /// Whether its processors have 64 bits.
    package var is64BitCapable: Bool?

    /// Creates empty properties.
    public init() {}

    /// The attributes of `Action.deviceProperties`.
    public static let fields: [RecordField<Self>] = [
        .text("appName", \.appName)
            .declared("The app's name"),
        .text("appVersion", \.appVersion)
            .declared("The app's build"),
        .text("appVersionShort", \.appVersionShort)
            .declared("The app's version for people"),
        .text("sdkVersion", \.sdkVersion)
            .declared("The version of what collects"),
        .text("deviceName", \.deviceName)
            .declared("What the device is called, often after its owner", .otherDataTypes, isLinked: true),
        .text("systemName", \.systemName)
            .declared("The operating system"),
        .text("systemVersion", \.systemVersion)
            .declared("The operating system's version"),
        .text("vendorIdentifier", \.vendorIdentifier)
            .declared("Which device this is, for this app alone", .deviceID, isLinked: true),
        .text("initialVendorIdentifier", \.initialVendorIdentifier)
            .declared("The first such identifier that this installation saw", .deviceID, isLinked: true),
        .text("mobileCarrierName", \.mobileCarrierName)
            .declared("The mobile carrier"),
        .text("mobileISOCountryCode", \.mobileISOCountryCode)
            .declared("The carrier's country"),
        .text("mobileCountryCode", \.mobileCountryCode)
            .declared("The carrier's country as a number"),
        .text("mobileNetworkCode", \.mobileNetworkCode)
            .declared("The carrier's network as a number"),
        .text("hardwareMachine", \.hardwareMachine)
            .declared("The hardware's model identifier"),
        .texts("evidenceFilesPresent", \.evidenceFilesPresent)
            .declared("Files that only a device that was broken into has"),
        .texts("evidenceDirectoriesSymlinked", \.evidenceDirectoriesSymlinked)
            .declared("Directories that are links though they should not be"),
        .texts("evidenceDirectoriesWritable", \.evidenceDirectoriesWritable)
            .declared("System directories that anybody may write to"),
        .texts("evidenceLibrariesLoaded", \.evidenceLibrariesLoaded)
            .declared("Libraries that were loaded into the app from outside"),
        .text("model", \.model)
            .declared("The kind of device"),
        .text("localizedModel", \.localizedModel)
            .declared("The kind of device in the person's language"),
        .text("advertisingIdentifier", \.advertisingIdentifier)
            .declared("The advertising identifier", .deviceID, isLinked: true),
        .text("hardwareModel", \.hardwareModel)
            .declared("The board"),
        .text("kernelVersion", \.kernelVersion)
            .declared("The kernel's version"),
        .text("kernelBootIdentifier", \.kernelBootIdentifier)
            .declared("Which start of the kernel this is", .deviceID),
        .text("hostName", \.hostName)
            .declared("The host's name, often after its owner", .otherDataTypes, isLinked: true),
        .text("osType", \.osType)
            .declared("The kernel's kind"),
        .text("osRelease", \.osRelease)
            .declared("The kernel's release"),
        .integer("screenWidth", \.screenWidth, unit: "px")
            .declared("The screen's width"),
        .integer("screenHeight", \.screenHeight, unit: "px")
            .declared("The screen's height"),
        .integer("memorySize", \.memorySize, unit: "B")
            .declared("The memory's size"),
        .integer("pageSize", \.pageSize, unit: "B")
            .declared("A memory page's size"),
        .integer("cpuCount", \.cpuCount)
            .declared("Processors in use"),
        .integer("physicalCPUCount", \.physicalCPUCount)
            .declared("Processor cores"),
        .integer("logicalCPUCount", \.logicalCPUCount)
            .declared("Processors, each thread of a core counted"),
        .integer("cacheLineSize", \.cacheLineSize, unit: "B")
            .declared("A cache line's size"),
        .integer("l1DataCacheSize", \.l1DataCacheSize, unit: "B")
            .declared("The first cache's size for data"),
        .integer("l1InstructionCacheSize", \.l1InstructionCacheSize, unit: "B")
            .declared("The first cache's size for instructions"),
        .integer("l2CacheSize", \.l2CacheSize, unit: "B")
            .declared("The second cache's size"),
        .integer("l3CacheSize", \.l3CacheSize, unit: "B")
            .declared("The third cache's size"),
        .truth("isSimulator", \.isSimulator)
            .declared("Whether it is a simulated device"),
        .truth("is64BitCapable", \.is64BitCapable)
            .declared("Whether its processors have 64 bits"),
    ]
}
