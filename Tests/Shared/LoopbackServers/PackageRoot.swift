package import Foundation

/// The folder of this package, for scripts, fixtures of other suites, and what `scripts/install-…` puts beside the
/// build.
package let packageRoot = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
