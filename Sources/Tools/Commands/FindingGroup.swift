internal import InstrumentRules

/// The findings of one fault of a rule in one folder, such as the segments of a rendition, which people read once.
struct FindingGroup {
    /// The first finding.
    let first: Finding
    /// The number of the other resources with the fault.
    private(set) var otherCount = 0

    /// Groups findings in the order of their discovery.
    static func groups(of findings: [Finding]) -> [FindingGroup] {
        var groups: [FindingGroup] = []
        var places: [String: Int] = [:]
        for finding in findings {
            let folder = finding.resource.lastIndex(of: "/").map { finding.resource[...$0] } ?? ""
            // Playlists of one folder are different things; segments of one folder are one rendition.
            let ending = finding.resource.lowercased()
            let isManifest = [".m3u8", ".m3u", ".mpd"].contains { ending.hasSuffix($0) }
            let place = isManifest ? finding.resource : String(folder)
            let key = "\(finding.rule) \(place) \(finding.problem.fault ?? "")"
            if let place = places[key] {
                groups[place].otherCount += 1
            } else {
                places[key] = groups.count
                groups.append(FindingGroup(first: finding))
            }
        }
        return groups
    }
}
