package import Instrument

/// A backend that a user chose: a kind and an address that was read. Two are equal if kind and address are.
package struct ChosenBackend: Hashable, Sendable {
    package let kind: BackendKind
    /// The text behind the colon; nil without a colon.
    package let address: String?
    private let maker: @Sendable (BackendContext) throws -> any Backend

    init(
        kind: BackendKind,
        address: String?,
        make maker: @escaping @Sendable (BackendContext) throws -> any Backend
    ) {
        (self.kind, self.address, self.maker) = (kind, address, maker)
    }

    /// The path of the file that the backend writes; nil for a backend that writes no file.
    package var path: String? { kind.address == .path ? address : nil }

    /// Creates the backend.
    package func make(in context: BackendContext) throws(BackendKindError) -> any Backend {
        do { return try maker(context) } catch let error as BackendKindError { throw error } catch {
            throw BackendKindError("\(error)")
        }
    }

    package static func == (one: ChosenBackend, other: ChosenBackend) -> Bool {
        one.kind.name == other.kind.name && one.address == other.address
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind.name)
        hasher.combine(address)
    }
}
