//! Finds what a program needs and a sandbox hides, before the program is started in vain.
//!
//! The system says of a script whose interpreter is missing that the script is missing, which helps nobody.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Sandbox;
use super::arguments::{is_hidden, sights};

/// The system itself reads no more of the first line of a script.
const LINE_BYTES_MAX: u64 = 256;

/// Returns the program or its interpreter if it exists and cannot be seen inside.
pub(crate) fn find_hidden(sandbox: &Sandbox, command: &[OsString]) -> Option<PathBuf> {
    let program = Path::new(command.first()?);
    let sights = sights(sandbox, command);
    let needed = std::iter::once(program.to_owned()).chain(find_interpreter(program));
    needed.filter(|path| path.exists()).find(|path| {
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        is_hidden(&sights, &real)
    })
}

/// Returns the interpreter that the first line of a script names.
fn find_interpreter(program: &Path) -> Option<PathBuf> {
    let mut beginning = Vec::new();
    File::open(program).ok()?.take(LINE_BYTES_MAX).read_to_end(&mut beginning).ok()?;
    let line = beginning.split(|byte| *byte == b'\n').next()?.strip_prefix(b"#!")?;
    let word = line.trim_ascii_start().split(u8::is_ascii_whitespace).next()?;
    Some(PathBuf::from(OsStr::from_bytes(word))).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_that_is_hidden_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (program, interpreter) = (root.join("agent"), root.join("tools/python"));
        std::fs::create_dir(root.join("tools")).unwrap();
        std::fs::write(&interpreter, "").unwrap();
        std::fs::write(&program, format!("#! {} -u\nprint()\n", interpreter.display())).unwrap();
        let command = [program.clone().into_os_string()];
        let mut sandbox = Sandbox { hidden: vec![root.clone()], ..Sandbox::default() };
        assert_eq!(find_hidden(&sandbox, &command), Some(interpreter.clone()));
        sandbox.read_only.push(root.join("tools"));
        assert_eq!(find_hidden(&sandbox, &command), None, "the program itself is always seen");
        std::fs::write(&program, "no script").unwrap();
        assert_eq!(find_hidden(&Sandbox { hidden: vec![root], ..Sandbox::default() }, &command), None);
    }
}
