/// The form of a backend's credentials: what the environment variable or the file holds that the user names.
public struct CredentialsForm: Hashable, Sendable {
    /// The form, such as `USER:PASSWORD`.
    package let text: String
    /// Whether no backend can be made without credentials.
    package let isRequired: Bool

    /// Credentials that every backend of the kind needs.
    public static func required(_ text: String) -> CredentialsForm { CredentialsForm(text: text, isRequired: true) }

    /// Credentials that some services ask for.
    public static func optional(_ text: String) -> CredentialsForm { CredentialsForm(text: text, isRequired: false) }
}
