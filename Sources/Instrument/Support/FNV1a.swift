/// FNV-1a (draft-eastlake-fnv): hashes that are the same on every machine and in every process. An attacker can create
/// two texts with the same hash: it is no defence against forgery.
package enum FNV1a {
    /// The hash of 64 bits.
    package static func hash64(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// The hash of 128 bits.
    package static func hash128(_ bytes: some Sequence<UInt8>) -> UInt128 {
        bytes.reduce(0x6C62_272E_07BB_0142_62B8_2175_6295_C58D) { ($0 ^ UInt128($1)) &* (1 << 88 | 0x13B) }
    }
}
