internal import CProbeShim

/// The picture in the bytes of an access unit, by the headers of its NAL units (ITU-T H.264 and H.265, 7.3.1).
struct AccessUnit: Hashable, Sendable {
    var isKeyframe = false
    /// The parameter sets in it, in their order.
    var parameterSets: [UInt8] = []
    /// The numbers of the picture parameter sets so far; nil if they are not looked at.
    var pictureSets: Set<Int>?

    /// Reads an access unit in byte stream format (annex B), which must be complete and the only one in `bytes`.
    ///
    /// - Parameters:
    ///   - hasKeyframe: whether an earlier picture of the segment was a keyframe, so that `isKeyframe` matters less:
    ///     pictures that may be keyframes need no doubt any more.
    ///   - pictureSets: the numbers of the picture parameter sets before.
    /// - Returns: nil in doubt.
    static func read(
        _ bytes: UnsafeRawBufferPointer,
        _ coding: ElementaryCoding,
        hasKeyframe: Bool,
        pictureSets: Set<Int>
    ) -> AccessUnit? {
        var scan = AccessUnitScan(coding, hasKeyframe: hasKeyframe, pictureSets: pictureSets)
        var starts = StartCodes(bytes)
        guard var begin = starts.next(), begin <= 4 else { return nil }
        while true {
            let next = starts.next()
            let end = next.map { $0 - 3 } ?? bytes.count
            guard begin < end, scan.take(UnsafeRawBufferPointer(rebasing: bytes[begin..<end])) else { return nil }
            guard let next else { break }
            begin = next
        }
        return scan.hasSlice ? scan.unit : nil
    }
}

extension AccessUnit {
    /// Reads the beginning of a sample of fragmented MP4, up to its first slice.
    ///
    /// - Parameter isMarked: whether the sample, or an earlier one, is marked as a keyframe.
    /// - Returns: nil in doubt.
    static func read(
        _ bytes: UnsafeRawBufferPointer,
        _ coding: ElementaryCoding,
        lengthSize: Int,
        isMarked: Bool
    ) -> AccessUnit? {
        var scan = AccessUnitScan(coding, hasKeyframe: isMarked)
        var offset = 0
        while !scan.hasSlice {
            guard offset + lengthSize < bytes.count else { return nil }
            let length = bytes[offset..<(offset + lengthSize)].reduce(0) { $0 << 8 | Int($1) }
            let begin = offset + lengthSize
            guard length > 0, begin + length <= bytes.count,
                scan.take(UnsafeRawBufferPointer(rebasing: bytes[begin..<(begin + length)]))
            else { return nil }
            offset = begin + length
        }
        return scan.unit
    }
}

/// The positions behind the start codes `00 00 01`.
struct StartCodes {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func next() -> Int? {
        let found = probe_start_code_end(bytes.baseAddress, offset, bytes.count)
        guard found > 0 else { return nil }
        offset = found
        return found
    }
}

/// Sums the NAL units of one access unit.
struct AccessUnitScan {
    private let coding: ElementaryCoding
    private let hasKeyframe: Bool
    private(set) var unit = AccessUnit()
    private(set) var hasSlice = false
    private var lastMacroblock = -1
    private var hasRecoveryPoint = false

    init(_ coding: ElementaryCoding, hasKeyframe: Bool, pictureSets: Set<Int>? = nil) {
        self.coding = coding
        self.hasKeyframe = hasKeyframe
        unit.pictureSets = pictureSets
    }

    /// Adds a NAL unit; false in doubt.
    mutating func take(_ nal: UnsafeRawBufferPointer) -> Bool {
        guard let first = nal.first, first & 0x80 == 0 else { return false }
        return coding == .h264 ? take(h264: nal, type: first & 0x1F) : take(h265: nal, type: first >> 1 & 0x3F)
    }

    private mutating func take(h264 nal: UnsafeRawBufferPointer, type: UInt8) -> Bool {
        switch type {
        case 1, 5: return take(h264Slice: nal, isIDR: type == 5)
        case 6:
            guard !hasSlice, let messages = SupplementalMessages(nal, headerSize: 1) else { return false }
            // With the timing of a picture, its fields may play longer than a frame.
            if messages.types.contains(1) { return false }
            if messages.types.contains(6) { hasRecoveryPoint = true }
            return true
        case 7, 8:
            keepParameterSet(nal)
            return !hasSlice && (type == 7 || keepPictureSet(nal, headerSize: 1))
        case 9: return !hasSlice
        case 10, 11, 12: return true
        default: return false
        }
    }

    private mutating func take(h264Slice nal: UnsafeRawBufferPointer, isIDR: Bool) -> Bool {
        var bits = ExpGolomb(nal, headerSize: 1)
        guard let macroblock = bits.next(), let kind = bits.next(), kind <= 9, let set = bits.next(), set < 256,
            unit.pictureSets?.contains(set) != false, macroblock > lastMacroblock, (lastMacroblock >= 0) == hasSlice,
            hasSlice || macroblock == 0
        else { return false }
        lastMacroblock = macroblock
        if !hasSlice {
            unit.isKeyframe = isIDR || hasRecoveryPoint
            // An intra picture of a stream with one reference picture counts as a keyframe as well.
            if !unit.isKeyframe, !hasKeyframe, kind % 5 == 2 { return false }
        } else if isIDR != unit.isKeyframe, !hasKeyframe, !hasRecoveryPoint {
            return false
        }
        hasSlice = true
        return true
    }

    private mutating func take(h265 nal: UnsafeRawBufferPointer, type: UInt8) -> Bool {
        // Of the base layer, with a valid temporal identifier.
        guard nal.count > 2, nal[0] & 1 == 0, nal[1] >> 3 == 0, nal[1] & 7 != 0 else { return false }
        switch type {
        case 0...9, 16...21:
            guard (nal[2] & 0x80 != 0) != hasSlice else { return false }
            var bits = ExpGolomb(nal, headerSize: 2)
            // The flag of the first slice, and in random access pictures one more flag, are in front of the number.
            bits.skip(type >= 16 ? 2 : 1)
            guard let set = bits.next(), set < 64, unit.pictureSets?.contains(set) != false else { return false }
            if !hasSlice { unit.isKeyframe = type >= 16 }
            hasSlice = true
            return unit.isKeyframe == (type >= 16)
        case 32, 33, 34:
            keepParameterSet(nal)
            return !hasSlice && (type < 34 || keepPictureSet(nal, headerSize: 2))
        case 35, 39: return !hasSlice
        case 38, 40: return true
        default: return false
        }
    }

    private mutating func keepPictureSet(_ nal: UnsafeRawBufferPointer, headerSize: Int) -> Bool {
        var bits = ExpGolomb(nal, headerSize: headerSize)
        guard let number = bits.next() else { return false }
        unit.pictureSets?.insert(number)
        return true
    }

    private mutating func keepParameterSet(_ nal: UnsafeRawBufferPointer) {
        // Zero bytes in front of the next start code belong to no NAL unit.
        let nal = nal[...(nal.lastIndex { $0 != 0 } ?? 0)]
        unit.parameterSets += [UInt8(truncatingIfNeeded: nal.count >> 8), UInt8(truncatingIfNeeded: nal.count)]
        unit.parameterSets += nal
    }
}
