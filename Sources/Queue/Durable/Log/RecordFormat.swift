internal import CDurableShim

/// The frame of a record: `length (4), CRC-32C of the rest (4), number (8), payload`, at a multiple of eight.
///
/// The length is written last, so that a record that a crash has interrupted has no length and is ignored.
enum RecordFormat {
    static var headerSize: Int { 16 }

    /// A complete record.
    struct Record {
        let sequence: UInt64
        let payload: UnsafeRawBufferPointer
        /// The offset of the next record.
        let next: Int
    }

    /// The complete record at an offset that ends before `limit`; nil without one.
    static func record(in base: UnsafeRawPointer, at offset: Int, before limit: Int) -> Record? {
        guard offset >= 0, offset + headerSize < limit else { return nil }
        let length = Int(durable_load_acquire(base + offset))
        guard length > 0, length <= limit - offset - headerSize else { return nil }
        let end = offset + headerSize + length
        let crc = base.load(fromByteOffset: offset + 4, as: UInt32.self)
        guard UInt32(littleEndian: crc) == durable_crc32c(0, base + offset + 8, length + 8) else { return nil }
        let sequence = UInt64(littleEndian: base.load(fromByteOffset: offset + 8, as: UInt64.self))
        guard sequence < FolderNames.maxNumber else { return nil }
        let payload = UnsafeRawBufferPointer(start: base + offset + headerSize, count: length)
        return Record(sequence: sequence, payload: payload, next: (end + 7) & ~7)
    }

    /// Writes the sequence number and the checksum before a payload that ends at `end`.
    static func finish(_ base: UnsafeMutableRawPointer, recordAt offset: Int, end: Int, sequence: UInt64) {
        base.storeBytes(of: sequence.littleEndian, toByteOffset: offset + 8, as: UInt64.self)
        let crc = durable_crc32c(0, base + offset + 8, end - offset - 8)
        base.storeBytes(of: crc.littleEndian, toByteOffset: offset + 4, as: UInt32.self)
    }

    /// Commits the record at an offset. From here on the record survives the process.
    static func commit(_ base: UnsafeMutableRawPointer, recordAt offset: Int, end: Int) {
        durable_store_release(base + offset, UInt32(end - offset - headerSize))
    }

    /// Marks an offset as the end of the records.
    static func terminate(_ base: UnsafeMutableRawPointer, at offset: Int) { durable_store_release(base + offset, 0) }
}

extension RecordFormat {
    /// A record with its header, padded to a multiple of eight.
    static func bytes(of payload: [UInt8], sequence: UInt64) -> [UInt8] {
        let end = headerSize + payload.count
        var bytes = [UInt8](repeating: 0, count: (end + 7) & ~7)
        bytes.replaceSubrange(headerSize..<end, with: payload)
        bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            finish(base, recordAt: 0, end: end, sequence: sequence)
            commit(base, recordAt: 0, end: end)
        }
        return bytes
    }
}
