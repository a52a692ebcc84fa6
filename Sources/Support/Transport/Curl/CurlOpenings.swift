#if !canImport(Darwin)
internal import CCurl
internal import CTransportShim
internal import InstrumentFiles

extension UnsafeMutablePointer<transport_openings> {
    /// Says which connections a transfer may open, none of which takes a descriptor that is left to the system's
    /// libraries. The memory has to stay valid as long as the transfer.
    func apply(to easy: UnsafeMutableRawPointer, allowsPrivateAddresses: Bool) -> Bool {
        pointee.is_public_only = !allowsPrivateAddresses
        pointee.reserve_start = Int32(clamping: FileLimit.reserveStart)
        return transport_set_openings(easy, self) == CURLE_OK
    }
}
#endif
