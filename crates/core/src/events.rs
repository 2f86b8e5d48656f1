//! What the events of all families have in common: each kind stands once, with its name in the log.

/// Makes the enum of a family's events from its kinds, with their names. A field that is `None` is not written, unless it
/// says `#[serialize_always]`.
macro_rules! events {
    (
        each has $field:ident: $type:ty as $accessor:ident;
        $(#[$about:meta])*
        pub enum Event { $($(#[$note:meta])* $variant:ident = $name:literal $fields:tt,)* }
    ) => {
        events! { $(#[$about])* pub enum Event { $($(#[$note])* $variant = $name $fields,)* } }

        impl Event {
            /// Returns what it happened to.
            pub fn $accessor(&self) -> $type {
                match self { $(Event::$variant { $field, .. } => *$field,)* }
            }
        }
    };
    (
        $(#[$about:meta])*
        pub enum Event { $($(#[$note:meta])* $variant:ident = $name:literal $fields:tt,)* }
    ) => {
        $(#[$about])*
        #[serde_with::skip_serializing_none]
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "type", rename_all_fields = "camelCase")]
        #[allow(missing_docs, reason = "the fields are those of the contract, and the variants say what happened")]
        pub enum Event {
            $($(#[$note])* #[serde(rename = $name)] $variant $fields,)*
        }

        impl Event {
            /// Every kind of event, by its name in the log.
            pub const KINDS: &'static [&'static str] = &[$($name),*];

            /// Returns the name of the event's kind.
            pub fn kind(&self) -> &'static str {
                match self { $(Event::$variant { .. } => $name,)* }
            }
        }
    };
}
