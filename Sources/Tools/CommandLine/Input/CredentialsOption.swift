internal import ArgumentParser
package import InstrumentBackendKinds

/// The place that holds credentials: an environment variable or a file, with the name of a backend in front of it or
/// without.
package struct CredentialsOption: ExpressibleByArgument {
    private let argument: String

    package init(argument: String) { self.argument = argument }

    /// The name in front of `=`, if it is one of `names`, and the place.
    package func divided(byPrefixesOf names: [String]) -> (name: String?, source: SecretReference) {
        guard let name = names.first(where: { argument.hasPrefix($0 + "=") }) else {
            return (nil, SecretReference(argument: argument))
        }
        return (name, SecretReference(argument: argument.dropFirst(name.count + 1)))
    }

    /// Reads a key or a token. Exits with code 2 if it cannot be read.
    ///
    /// - Parameters:
    ///   - option: the option, for messages.
    ///   - form: what the variable or the file holds, for messages.
    package func secret(namedBy option: String, form: String) throws -> String {
        let source = SecretReference(argument: argument)
        do throws(BackendKindError) {
            return try BackendCredentials(source, namedBy: option, form: form).secret()
        } catch {
            throw ValidationError(error.description)
        }
    }
}
