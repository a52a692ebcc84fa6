/// AES with a key of 16 bytes, for encryption alone (FIPS 197).
struct BlockCipher: Sendable {
    static let blockSize = 16

    /// The substitution of bytes: the inverse in the field, and an affine map (FIPS 197, section 5.1.1).
    private static let substitution: [UInt8] = {
        // 3 generates the field's numbers but zero, so that logarithms give inverses.
        var (powers, logarithms, power) = ([UInt8](repeating: 1, count: 255), [Int](repeating: 0, count: 256), UInt8(1))
        for exponent in 0..<255 {
            (powers[exponent], logarithms[Int(power)]) = (power, exponent)
            power ^= doubled(power)
        }
        return (0..<256).map { value in
            let inverse = value == 0 ? 0 : powers[(255 - logarithms[value]) % 255]
            return (1...4).reduce(inverse ^ 0x63) { $0 ^ (inverse << $1 | inverse >> (8 - $1)) }
        }
    }()

    /// The round keys, 16 bytes each.
    private let keys: [UInt8]

    /// Nil for a key of another length.
    init?(key: [UInt8]) {
        guard key.count == Self.blockSize else { return nil }
        var (keys, constant) = (key, UInt8(1))
        while keys.count < 11 * Self.blockSize {
            var word = Array(keys.suffix(4))
            if keys.count % Self.blockSize == 0 {
                word = [word[1], word[2], word[3], word[0]].map { Self.substitution[Int($0)] }
                word[0] ^= constant
                constant = Self.doubled(constant)
            }
            for byte in word { keys.append(keys[keys.count - Self.blockSize] ^ byte) }
        }
        self.keys = keys
    }

    /// A number of the field, times two (FIPS 197, section 4.2.1).
    private static func doubled(_ value: UInt8) -> UInt8 { value << 1 ^ (value & 0x80 != 0 ? 0x1B : 0) }

    /// Encrypts a block in place.
    func encrypt(_ block: inout [UInt8]) {
        guard block.count == Self.blockSize else { return }
        Self.substitution.withUnsafeBufferPointer { substitution in
            keys.withUnsafeBufferPointer { keys in
                block.withUnsafeMutableBufferPointer { Self.encrypt($0, keys, substitution) }
            }
        }
    }

    /// Encrypts a block of `bytes` in place, chained to `block`, the encrypted block before it or the initialization
    /// vector (CBC; NIST SP 800-38A, 6.2). Then `block` is the encrypted one.
    func chain(_ bytes: inout [UInt8], at place: Int, to block: inout [UInt8]) {
        for index in block.indices { block[index] ^= bytes[place + index] }
        encrypt(&block)
        bytes.replaceSubrange(place..<(place + Self.blockSize), with: block)
    }

    private static func encrypt(
        _ block: UnsafeMutableBufferPointer<UInt8>,
        _ keys: UnsafeBufferPointer<UInt8>,
        _ substitution: UnsafeBufferPointer<UInt8>
    ) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: blockSize) { moved in
            for index in 0..<16 { block[index] ^= keys[index] }
            for round in 1...10 {
                // The rows of a column come from different columns (section 5.1.2).
                for index in 0..<16 { moved[index] = substitution[Int(block[(index + 4 * (index & 3)) & 15])] }
                for column in stride(from: 0, to: 16, by: 4) {
                    let sum = moved[column] ^ moved[column + 1] ^ moved[column + 2] ^ moved[column + 3]
                    for row in 0..<4 {
                        let index = column + row
                        let mixed =
                            round == 10
                            ? 0 : sum ^ doubled(moved[index] ^ moved[column + (row + 1) & 3])
                        block[index] = moved[index] ^ mixed ^ keys[16 * round + index]
                    }
                }
            }
        }
    }
}
