/// The version of xAPI whose rules apply.
///
/// Where they differ in what a statement may say: 2.0 has `contextAgents` and `contextGroups`, wants timestamps as RFC
/// 3339 writes them, and takes statements that are marked with version 2.0.x besides 1.0.x.
public enum XAPIVersion: String, CaseIterable, Hashable, Sendable {
    /// xAPI 1.0.3, as ADL published it in 2016.
    case v1 = "1.0.3"
    /// xAPI 2.0, which is IEEE 9274.1.1-2023.
    case v2 = "2.0.0"
}
