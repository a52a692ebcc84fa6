// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation
internal import Synchronization

// The part of CoreMedia that AVFoundation exports.

public struct CMTime: Sendable {  // CMTime.h:89
    public var value: Int64  // CMTime.h:91
    public var timescale: Int32  // CMTime.h:92
    var isFinite = true

    static let invalid = CMTime(value: 0, timescale: 0, isFinite: false)
    static let indefinite = CMTime(value: 0, timescale: 0, isFinite: false)
}

public struct CMTimeRange: Sendable {  // CMTimeRange.h:51
    public var start: CMTime  // CMTimeRange.h:53
    public var duration: CMTime  // CMTimeRange.h:54
    // Of CoreMedia's overlay for Swift: documentation/coremedia/cmtimerange/end
    public var end: CMTime { CMTime(value: start.value + duration.value, timescale: start.timescale) }
}

// CMTime.h:199
public func CMTimeMake(value: Int64, timescale: Int32) -> CMTime { CMTime(value: value, timescale: timescale) }

/// Not a number for times that are not numeric.
public func CMTimeGetSeconds(_ time: CMTime) -> Double {  // CMTime.h:243
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
    public var timeRangeValue: CMTimeRange {  // AVTime.h:32
        SimulatedTimeRange.range(self) ?? CMTimeRange(start: .invalid, duration: .invalid)
    }
}
