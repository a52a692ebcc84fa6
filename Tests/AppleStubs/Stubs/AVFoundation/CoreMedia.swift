// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

/// The part of CoreMedia that AVFoundation exports.
public struct CMTime: Hashable, Sendable {
    public var value: Int64
    public var timescale: Int32
    var isFinite = true

    public static let indefinite = CMTime(value: 0, timescale: 0, isFinite: false)
    public static let zero = CMTime(value: 0, timescale: 1)
}

public func CMTimeMake(value: Int64, timescale: Int32) -> CMTime { CMTime(value: value, timescale: timescale) }

/// Not a number for times that are not numeric.
public func CMTimeGetSeconds(_ time: CMTime) -> Double {
    time.isFinite && time.timescale != 0 ? Double(time.value) / Double(time.timescale) : .nan
}
