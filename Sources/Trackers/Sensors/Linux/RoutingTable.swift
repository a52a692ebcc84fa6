/// The kernel's routes (`/proc/net/route`, `/proc/net/ipv6_route`).
struct RoutingTable: Sendable {
    let tree: FileTree

    /// The interfaces of default routes.
    ///
    /// IPv4: destination and mask are zero, the flags have `RTF_UP` (1). IPv6: destination and prefix are zero, the
    /// flags have `RTF_UP` and not `RTF_REJECT` (0x200), which marks the kernel's own route for unreachable addresses.
    func defaultInterfaces() -> Set<String> {
        var names: Set<String> = []
        for line in tree.lines("/proc/net/route") {
            let cells = line.split(whereSeparator: \.isWhitespace)
            guard cells.count > 7, cells[1] == "00000000", cells[7] == "00000000",
                let flags = UInt32(cells[3], radix: 16), flags & 1 != 0, flags & 0x200 == 0
            else { continue }
            names.insert(String(cells[0]))
        }
        for line in tree.lines("/proc/net/ipv6_route") {
            let cells = line.split(whereSeparator: \.isWhitespace)
            guard cells.count > 9, cells[1] == "00", cells[0].allSatisfy({ $0 == "0" }),
                let flags = UInt32(cells[8], radix: 16), flags & 1 != 0, flags & 0x200 == 0
            else { continue }
            names.insert(String(cells[9]))
        }
        return names
    }
}
