package import Instrument

/// What the page of metrics shows beside the streams.
package struct MonitorFacts: Sendable {
    /// The ledgers of the backends and of the receivers of alerts, by name.
    package var ledgers: [(name: String, ledger: Ledger)] = []
    /// Figures of the process; nil where the system does not say.
    package var process: ProcessFigures?
    /// The version of the program and of the libraries that it runs with; empty shows none.
    package var build: [(name: String, value: String)] = []
    /// Requests to the probe page that were refused or ran.
    package var probes = 0

    package init() {}
}

/// Figures of this process.
package struct ProcessFigures: Hashable, Sendable {
    package var residentBytes: Int
    package var threads: Int
    package var openFiles: Int
    /// User and system time.
    package var cpuSeconds: Double
    package var startTime: WallTime

    package init(residentBytes: Int, threads: Int, openFiles: Int, cpuSeconds: Double, startTime: WallTime) {
        (self.residentBytes, self.threads, self.openFiles) = (residentBytes, threads, openFiles)
        (self.cpuSeconds, self.startTime) = (cpuSeconds, startTime)
    }
}
