/// The correction for several tests by S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure" (1979).
enum HolmCorrection {
    /// The adjusted p-values, in the order of the given ones; a p-value of nil is no test and stays nil.
    static func adjust(_ values: [Double?]) -> [Double?] {
        var adjusted = values
        let ascending = values.indices.compactMap { index in values[index].map { (index, $0) } }.sorted { $0.1 < $1.1 }
        var largest = 0.0
        for (rank, (index, p)) in ascending.enumerated() {
            largest = max(largest, min(1, p * Double(ascending.count - rank)))
            adjusted[index] = largest
        }
        return adjusted
    }
}
