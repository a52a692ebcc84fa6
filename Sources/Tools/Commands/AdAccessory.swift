internal import InstrumentAds
internal import InstrumentCommandLine
internal import InstrumentJSON

/// What comes with an ad beside its media: a companion, an icon, or a verification script, with or without calls.
struct AdAccessory {
    /// The form of an accessory.
    enum Kind: String, CaseIterable, CustomStringConvertible {
        case companion, icon, verification

        var description: String { rawValue }
        /// The name of the list of a report.
        var plural: String { rawValue + "s" }
    }

    var kind: Kind
    /// The identifier, the programme or the vendor; nil if the document names none.
    var name: String?
    var width: Int?
    var height: Int?
    /// The number of addresses that a player calls for the accessory.
    var callCount: Int
}

extension AdAccessory {
    var description: String {
        let size = width.flatMap { width in height.map { "\(width) x \($0)" } }
        let calls = callCount == 0 ? "without calls" : String(counting: callCount, "call")
        return [name ?? "without name", size, calls].compactMap(\.self).joined(separator: ", ")
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["calls": .int(callCount)]
        members["name"] = name.map { .string($0) }
        members["width"] = width.map { .int($0) }
        members["height"] = height.map { .int($0) }
        return .object(members)
    }
}

extension ResolvedAd {
    /// The companions, icons and verification scripts of the ad, in this order.
    var accessories: [AdAccessory] {
        let companions = companions.map { companion in
            AdAccessory(
                kind: .companion,
                name: companion.id,
                width: companion.width,
                height: companion.height,
                callCount: companion.events.count + companion.clickTracking.count
            )
        }
        let icons = (linear?.icons ?? []).map { icon in
            AdAccessory(
                kind: .icon,
                name: icon.program,
                width: icon.width,
                height: icon.height,
                callCount: icon.viewTracking.count + icon.clickTracking.count
            )
        }
        let verifications = verifications.map {
            AdAccessory(kind: .verification, name: $0.vendor, callCount: $0.notExecuted.count)
        }
        return companions + icons + verifications
    }
}
