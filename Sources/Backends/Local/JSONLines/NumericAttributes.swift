/// The attributes whose values are integers. An export of a database can write these integers as text.
enum NumericAttributes {
    private static let names: Set<String> = [
        "accumBufferTime", "accumPauseTime", "accumPlayTime", "accumSeekTime", "adBitrate", "adBufferedTime",
        "adDuration", "adErrorCode", "adPosition", "adResolutionHeight", "adResolutionWidth", "adVolume", "bitrate",
        "bufferLevel", "countAds", "countErrors", "countFailedRequests", "countRequests", "countStarts",
        "deltaPlayTime", "displayHeight", "displayWidth", "duration", "errorStatus", "liveLatency", "position",
        "requestBytes", "requestTime", "resolutionHeight", "resolutionWidth", "sampleWeight", "throughput",
        "timeToFirstByte", "volume",
    ]

    /// Whether an attribute with this name has an integer as its value.
    static func contains(_ name: String) -> Bool { names.contains(name) || name.hasPrefix("timeSince") }
}
