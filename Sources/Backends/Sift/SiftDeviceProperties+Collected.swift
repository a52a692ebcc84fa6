internal import Instrument

extension SiftDeviceProperties {
    /// The properties that the attributes of `DeviceProperties` say.
    init(_ properties: DeviceProperties) {
        self.init()
        appName = properties.appName
        appVersion = properties.appVersion
        appVersionShort = properties.appVersionShort
        sdkVersion = properties.sdkVersion
        deviceName = properties.deviceName
        deviceSystemName = properties.systemName
        deviceSystemVersion = properties.systemVersion
        deviceIFV = properties.vendorIdentifier
        initialDeviceIFV = properties.initialVendorIdentifier
        mobileCarrierName = properties.mobileCarrierName
        mobileISOCountryCode = properties.mobileISOCountryCode
        mobileCountryCode = properties.mobileCountryCode
        mobileNetworkCode = properties.mobileNetworkCode
        deviceHardwareMachine = properties.hardwareMachine
        evidenceFilesPresent = properties.evidenceFilesPresent
        evidenceDirectoriesSymlinked = properties.evidenceDirectoriesSymlinked
        evidenceDirectoriesWritable = properties.evidenceDirectoriesWritable
        evidenceDyldsPresent = properties.evidenceLibrariesLoaded
        deviceModel = properties.model
        deviceLocalizedModel = properties.localizedModel
        deviceIFA = properties.advertisingIdentifier
        deviceHardwareModel = properties.hardwareModel
        deviceKernelVersion = properties.kernelVersion
        deviceKernelBootSessionUUID = properties.kernelBootIdentifier
        deviceHostName = properties.hostName
        deviceOSType = properties.osType
        deviceOSRelease = properties.osRelease
        deviceScreenWidth = properties.screenWidth
        deviceScreenHeight = properties.screenHeight
        deviceMemorySize = properties.memorySize
        devicePageSize = properties.pageSize
        cpuCount = properties.cpuCount
        physicalCPUCount = properties.physicalCPUCount
        logicalCPUCount = properties.logicalCPUCount
        cacheLineSize = properties.cacheLineSize
        l1DataCacheSize = properties.l1DataCacheSize
        l1InstructionCacheSize = properties.l1InstructionCacheSize
        l2CacheSize = properties.l2CacheSize
        l3CacheSize = properties.l3CacheSize
        isSimulator = properties.isSimulator
        is64BitCapable = properties.is64BitCapable
    }
}
