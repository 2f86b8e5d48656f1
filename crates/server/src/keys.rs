//! What the server keeps beside the log: its secret, its port, and one-time codes for browsers.
//!
//! ```text
//! <git common dir>/regatta/server/     readable by the user alone
//! ├── secret                           made once; cookie, token and host name are derived from it
//! ├── port                             the port of the last start
//! ├── public                           where a proxy shows it to others, if one does
//! ├── viewed/<person>/task-<id>.json   what each person has viewed of each diff
//! └── codes/<digest>                   one file for each code that nobody has used yet
//! ```
//!
//! A code is a file so that any process can issue one, and removing the file is what makes it good for one use, also across a
//! restart of the server. Only the digest is on disk: who lists the folder learns no code.

use crate::error::Error;
use crate::public_url::PublicUrl;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use regatta_engine::Project;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long a code can be used.
const CODE_AGE_MAX: Duration = Duration::from_secs(600);

/// Codes that are kept at once; more than that nobody has open, and a loop that asks for codes must not fill the disk.
const CODES_MAX: usize = 100;

/// The digits of a secret, in hexadecimal.
const SECRET_DIGITS: usize = 64;

/// The longest part of a host name that comes from the project's folder; a label has at most 63 characters.
const NAME_CHARACTERS_MAX: usize = 40;

/// The keys of one project.
#[derive(Debug, Clone)]
pub struct Keys {
    folder: PathBuf,
    secret: String,
    name: String,
}

impl Keys {
    /// Reads the keys of a project, and makes them if it has none.
    pub fn ensure(project: &Project) -> Result<Self, Error> {
        let log = project.log_path();
        let folder = log.parent().unwrap_or(Path::new(".")).join("server");
        let name =
            project.root().file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Keys::ensure_in(folder, &name)
    }

    fn ensure_in(folder: PathBuf, name: &str) -> Result<Self, Error> {
        let mut builder = fs::DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(folder.join("codes"))
            .map_err(Error::io("create", &folder))?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))
            .map_err(Error::io("protect", &folder))?;
        let path = folder.join("secret");
        if !path.exists() {
            write_secret(&folder, &path)?;
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(Error::io("protect", &path))?;
        let secret = read_short(&path)?;
        if secret.len() != SECRET_DIGITS || !secret.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Error::SecretInvalid { path });
        }
        Ok(Keys { folder, secret, name: label_of(name) })
    }

    /// Returns the token of programs.
    pub fn token(&self) -> String {
        format!("rgt_{}", self.derive("token"))
    }

    /// Returns the token of a person's own agent: it opens the service at `/mcp`, and nothing else.
    pub fn mcp_token(&self) -> String {
        format!("rgm_{}", self.derive("mcp"))
    }

    /// Returns the secret that webhooks are signed with, as the Standard Webhooks specification writes it.
    pub fn webhook_secret(&self) -> String {
        format!("whsec_{}", BASE64_STANDARD.encode(self.derive("webhook")))
    }

    /// Returns the name under which a browser opens the project.
    ///
    /// It has a part that nobody else knows: cookies ignore ports, so a server of somebody else must not have the same name.
    pub fn host(&self) -> String {
        let own = &self.derive("host")[..8];
        let dash = if self.name.is_empty() { "" } else { "-" };
        format!("{}{dash}{own}.localhost", self.name)
    }

    /// Returns the port of the last start, if there was one.
    pub fn find_port(&self) -> Option<u16> {
        read_short(&self.folder.join("port")).ok()?.parse().ok()
    }

    /// Returns where a proxy shows the project to others, if the last start named it.
    pub fn find_public(&self) -> Option<PublicUrl> {
        read_short(&self.folder.join("public")).ok()?.parse().ok()
    }

    /// Returns the address of the project on this machine, without a code.
    pub fn address(&self, port: u16) -> String {
        format!("http://{}:{port}/", self.host())
    }

    /// Returns an address on this machine with a new one-time code.
    pub fn issue_url(&self, port: u16) -> Result<String, Error> {
        Ok(format!("{}open?code={}", self.address(port), self.issue_code()?))
    }

    /// Returns where it is kept what people have viewed.
    pub(crate) fn viewed_folder(&self) -> PathBuf {
        self.folder.join("viewed")
    }

    /// Returns the public address with a new one-time code.
    pub fn issue_public_url(&self, public: &PublicUrl) -> Result<String, Error> {
        Ok(format!("{public}/open?code={}", self.issue_code()?))
    }

    pub(crate) fn cookie_name(&self) -> String {
        format!("regatta_{}", &self.derive("name")[..8])
    }

    pub(crate) fn cookie(&self) -> String {
        self.derive("cookie")
    }

    pub(crate) fn save_port(&self, port: u16) -> Result<(), Error> {
        self.save("port", &port.to_string())
    }

    /// Notes where a proxy shows the project, or that none does.
    pub(crate) fn save_public(&self, public: Option<&PublicUrl>) -> Result<(), Error> {
        let path = self.folder.join("public");
        match public {
            Some(public) => self.save("public", &public.to_string()),
            None => match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(Error::io("remove", &path)(error))
                }
                _ => Ok(()),
            },
        }
    }

    fn save(&self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.folder.join(name);
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).map_err(Error::io("write", &path))?;
        write!(file, "{text}").map_err(Error::io("write", &path))?;
        file.persist(&path).map_err(|error| Error::io("write", &path)(error.error))?;
        Ok(())
    }

    /// Issues a code that opens the project once.
    pub(crate) fn issue_code(&self) -> Result<String, Error> {
        let codes = self.folder.join("codes");
        self.remove_old_codes(&codes)?;
        let code = random_hex(16)?;
        let path = codes.join(digest_of(&code));
        fs::File::create_new(&path).map_err(Error::io("write", &path))?;
        Ok(code)
    }

    /// Uses a code up; tells whether it was good.
    pub(crate) fn redeem(&self, code: &str) -> bool {
        let path = self.folder.join("codes").join(digest_of(code));
        let is_fresh = fs::metadata(&path).and_then(|found| found.modified()).is_ok_and(is_fresh);
        // Only one of two requests with the same code removes the file.
        fs::remove_file(&path).is_ok() && is_fresh
    }

    fn remove_old_codes(&self, codes: &Path) -> Result<(), Error> {
        let mut kept = Vec::new();
        for entry in fs::read_dir(codes).map_err(Error::io("read", codes))?.flatten() {
            let modified =
                entry.metadata().and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            kept.push((modified, entry.path()));
        }
        kept.sort();
        let too_many = kept.len().saturating_sub(CODES_MAX - 1);
        for (index, (modified, path)) in kept.into_iter().enumerate() {
            if index < too_many || !is_fresh(modified) {
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }

    fn derive(&self, purpose: &str) -> String {
        digest_of(&format!("regatta {purpose} {}", self.secret))
    }
}

/// Tells whether two texts are the same, in a time that does not depend on where they differ.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    // Digests of what the caller cannot predict: what the comparison's time tells about them is of no use.
    Sha256::digest(one.as_bytes()) == Sha256::digest(other.as_bytes())
}

pub(crate) fn digest_of(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

fn is_fresh(modified: SystemTime) -> bool {
    // A clock that was set back makes a code look as if it came from the future; it is not old then.
    modified.elapsed().is_ok_and(|age| age <= CODE_AGE_MAX) || modified > SystemTime::now()
}

/// Two processes may make it at the same time; the first one's counts.
fn write_secret(folder: &Path, path: &Path) -> Result<(), Error> {
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(Error::io("write", path))?;
    file.write_all(random_hex(SECRET_DIGITS / 2)?.as_bytes()).map_err(Error::io("write", path))?;
    file.as_file().sync_all().map_err(Error::io("write", path))?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(Error::io("write", path)(error.error))
        }
        _ => Ok(()),
    }
}

fn read_short(path: &Path) -> Result<String, Error> {
    let mut text = String::new();
    let file = fs::File::open(path).map_err(Error::io("read", path))?;
    file.take(1024).read_to_string(&mut text).map_err(Error::io("read", path))?;
    Ok(text.trim().to_owned())
}

fn random_hex(bytes: usize) -> Result<String, Error> {
    let mut buffer = vec![0; bytes];
    getrandom::fill(&mut buffer).map_err(Error::Random)?;
    Ok(hex(&buffer))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns what of a folder's name may stand in a host name.
fn label_of(name: &str) -> String {
    let mut label = String::new();
    for character in name.to_lowercase().chars().take(NAME_CHARACTERS_MAX) {
        match character {
            'a'..='z' | '0'..='9' => label.push(character),
            _ if !label.ends_with('-') && !label.is_empty() => label.push('-'),
            _ => {}
        }
    }
    label.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(folder: &Path) -> Keys {
        Keys::ensure_in(folder.join("server"), "My Shop!").unwrap()
    }

    #[test]
    fn the_secret_is_made_once_and_is_the_users_alone() {
        let folder = tempfile::tempdir().unwrap();
        let first = keys(folder.path());
        assert_eq!(first.token(), keys(folder.path()).token());
        let path = folder.path().join("server/secret");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        keys(folder.path());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "it is protected again");
        fs::write(&path, "nothing").unwrap();
        let refused = Keys::ensure_in(folder.path().join("server"), "x").unwrap_err();
        assert!(refused.explain().next.contains("delete the file"), "{refused:?}");
    }

    #[test]
    fn what_is_derived_is_not_the_secret_and_differs() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keys(folder.path());
        let all = [keys.token(), keys.cookie(), keys.cookie_name(), keys.host()];
        for (index, one) in all.iter().enumerate() {
            assert!(!one.contains(&keys.secret));
            assert!(all.iter().skip(index + 1).all(|other| !other.contains(one.as_str())));
        }
        assert!(
            keys.host().starts_with("my-shop-") && keys.host().ends_with(".localhost"),
            "{}",
            keys.host()
        );
    }

    #[test]
    fn a_code_is_good_once_and_not_for_long() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keys(folder.path());
        let code = keys.issue_code().unwrap();
        assert!(keys.redeem(&code));
        assert!(!keys.redeem(&code));
        for forged in ["", "..", "../secret", "0"] {
            assert!(!keys.redeem(forged), "{forged}");
        }
        let old = keys.issue_code().unwrap();
        let file = fs::File::options()
            .write(true)
            .open(folder.path().join("server/codes").join(digest_of(&old)))
            .unwrap();
        file.set_modified(SystemTime::now() - CODE_AGE_MAX - Duration::from_secs(1)).unwrap();
        assert!(!keys.redeem(&old), "it is too old");
    }

    #[test]
    fn codes_that_nobody_uses_do_not_pile_up() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keys(folder.path());
        let codes: Vec<String> = (0..CODES_MAX + 5).map(|_| keys.issue_code().unwrap()).collect();
        assert_eq!(fs::read_dir(folder.path().join("server/codes")).unwrap().count(), CODES_MAX);
        assert!(keys.redeem(codes.last().unwrap()));
    }

    #[test]
    fn a_folder_of_any_name_gives_a_label() {
        for (name, label) in [("shop", "shop"), ("--A  b--", "a-b"), ("日本", ""), ("", "")] {
            assert_eq!(label_of(name), label);
        }
        assert!(label_of(&"x".repeat(300)).len() <= NAME_CHARACTERS_MAX);
    }
}
