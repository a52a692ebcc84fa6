// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation
internal import Synchronization

// CMTime.h and CMTimeRange.h: the part of CoreMedia that AVFoundation exports.

public struct CMTime: Hashable, Sendable {
    public var value: Int64
    public var timescale: Int32
    var isFinite = true

    public static let invalid = CMTime(value: 0, timescale: 0, isFinite: false)
    public static let indefinite = CMTime(value: 0, timescale: 0, isFinite: false)
    public static let zero = CMTime(value: 0, timescale: 1)
}

/// CMTimeRange.h
public struct CMTimeRange: Hashable, Sendable {
    public var start: CMTime
    public var duration: CMTime
    public init(start: CMTime, duration: CMTime) { (self.start, self.duration) = (start, duration) }
    /// Of CoreMedia's overlay for Swift.
    public var end: CMTime { CMTime(value: start.value + duration.value, timescale: start.timescale) }
}

public func CMTimeMake(value: Int64, timescale: Int32) -> CMTime { CMTime(value: value, timescale: timescale) }

/// Not a number for times that are not numeric.
public func CMTimeGetSeconds(_ time: CMTime) -> Double {
    time.isFinite && time.timescale != 0 ? Double(time.value) / Double(time.timescale) : .nan
}

/// The ranges that values of this module stand for: Foundation's NSValue for Linux cannot hold them.
enum SimulatedTimeRange {
    private static let ranges = Mutex([Int: CMTimeRange]())

    static func value(_ range: CMTimeRange) -> NSValue {
        ranges.withLock { ranges in
            ranges[ranges.count] = range
            return NSNumber(value: ranges.count - 1)
        }
    }

    static func range(_ value: NSValue) -> CMTimeRange? {
        (value as? NSNumber).flatMap { number in ranges.withLock { $0[number.intValue] } }
    }
}

extension NSValue {
    /// AVTime.h: NSValue (NSValueAVFoundationExtensions), CMTimeRangeValue.
    public var timeRangeValue: CMTimeRange {
        SimulatedTimeRange.range(self) ?? CMTimeRange(start: .invalid, duration: .invalid)
    }
}
