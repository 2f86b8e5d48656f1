//! Signs a webhook as the Standard Webhooks specification says, so that receivers can use its libraries.

use crate::core::{Code, Problem};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// How a secret begins when it is written.
const PREFIX: &str = "whsec_";

/// The key of a secret that is written as `whsec_…`.
#[derive(Clone)]
pub(crate) struct Key(Vec<u8>);

impl Key {
    /// Reads a secret.
    pub(crate) fn read(secret: &str) -> Result<Self, Problem> {
        let decoded = secret.strip_prefix(PREFIX).and_then(decode);
        decoded.map(Key).ok_or_else(|| {
            let why = format!("a secret is `{PREFIX}` and base64");
            Problem::new(
                Code::ConfigInvalid,
                "webhooks cannot be signed",
                why,
                "use what `regatta token --webhook` prints",
            )
        })
    }

    /// Returns the signature of a message with this ID, time (in seconds since 1970) and body.
    pub(crate) fn sign(&self, id: &str, seconds: i64, body: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes a key of any length");
        mac.update(format!("{id}.{seconds}.{body}").as_bytes());
        format!("v1,{}", encode(&mac.finalize().into_bytes()))
    }
}

fn decode(text: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.decode(text).ok().filter(|key| !key.is_empty())
}

fn encode(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_the_specification() {
        // The example of the specification.
        let key = Key::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signed = key.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        for wrong in ["", "whsec_", "secret", "whsec_?"] {
            assert!(Key::read(wrong).is_err(), "{wrong}");
        }
    }
}
