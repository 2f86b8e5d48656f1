//! The home of the user: what a sandboxed agent finds of it, and that nothing it does there is left.
//!
//! The invariant: after any session the user's home is byte for byte what it was, but for a login that was renewed.

use crate::support::{Attack, Walls, has_sandbox};
use regatta_testkit::repo::{fingerprint, write_below};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Places in a home where people and programs keep what nobody else should read.
const SECRETS: [&str; 46] = [
    ".ssh/id_ed25519",
    ".ssh/config",
    ".gnupg/private-keys-v1.d/key.key",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh/hosts.yml",
    ".config/glab-cli/config.yml",
    ".config/hub",
    ".kube/config",
    ".docker/config.json",
    ".config/containers/auth.json",
    ".aws/credentials",
    ".aws/sso/cache/token.json",
    ".azure/msal_token_cache.json",
    ".config/gcloud/application_default_credentials.json",
    ".config/doctl/config.yaml",
    ".fly/config.yml",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".config/pip/pip.conf",
    ".cargo/credentials.toml",
    ".cargo/config.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet/NuGet.Config",
    ".composer/auth.json",
    ".pgpass",
    ".my.cnf",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".psql_history",
    ".mozilla/firefox/p.default/logins.json",
    ".config/google-chrome/Default/Login Data",
    ".local/share/keyrings/login.keyring",
    ".password-store/mail.gpg",
    ".config/op/config",
    ".env",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".local/share/opencode/auth.json",
];

/// Places in a home whose contents the user's own programs obey or run.
const OBEYED: [&str; 25] = [
    ".bashrc",
    ".profile",
    ".zshrc",
    ".gitconfig",
    ".config/git/config",
    ".claude.json",
    ".claude/settings.json",
    ".claude/CLAUDE.md",
    ".claude/commands/x.md",
    ".claude/plugins/x.json",
    ".codex/config.toml",
    ".codex/AGENTS.md",
    ".gemini/settings.json",
    ".qwen/settings.json",
    ".config/opencode/opencode.json",
    ".config/opencode/plugin/x.js",
    ".config/goose/config.yaml",
    ".config/autostart/x.desktop",
    ".config/systemd/user/x.service",
    ".local/bin/git",
    ".cargo/registry/src/index/crate/lib.rs",
    ".npm/_cacache/x",
    ".m2/repository/a/a.jar",
    "go/pkg/mod/x/x.go",
    ".cache/pip/x",
];

fn home_of(attack: &Attack) -> PathBuf {
    attack.outside().join("home")
}

fn plant(home: &Path, paths: &[&str], text: &str) {
    for path in paths {
        write_below(home, path, text);
    }
}

/// Returns paths as words of a shell script.
fn quoted(paths: &[&str]) -> String {
    paths.iter().map(|path| format!("\"{path}\" ")).collect()
}

fn read(attack: &Attack, name: &str) -> String {
    let worktree = PathBuf::from(attack.task()["worktree"].as_str().expect("a worktree"));
    std::fs::read_to_string(worktree.join(name)).unwrap_or_default()
}

/// Does all that it can to a home, and finds out where it really is by the mounts.
const VANDAL: &str = r#"
    for place in "$HOME" "$(dirname "$REGATTA_PROJECT")/home"; do
        for file in PATHS; do
            mkdir -p "$place/$(dirname "$file")" 2>/dev/null
            (echo planted >> "$place/$file") 2>/dev/null
            rm -f "$place/$file" 2>/dev/null; ln -s /etc/passwd "$place/$file" 2>/dev/null
            mv "$place/$file" "$place/$file.old" 2>/dev/null
        done
        touch "$place/new"; chmod -R 777 "$place"; rm -rf "$place"/.[a-z]* "$place"/*
    done 2>/dev/null
    for path in "$CARGO_HOME" "$GOMODCACHE" "$npm_config_cache" "$PIP_CACHE_DIR"; do
        mkdir -p "$path/planted" 2>/dev/null; ln -s "$HOME" "$path/link" 2>/dev/null
    done
    echo work > work.txt
"#;

#[test]
fn the_home_is_byte_for_byte_what_it_was() {
    if !has_sandbox() {
        return;
    }
    let paths: Vec<&str> = SECRETS.into_iter().chain(OBEYED).collect();
    let script = VANDAL.replace("PATHS", &quoted(&paths));
    for kind in ["command", "acp", "claude", "codex", "gemini", "opencode", "goose", "qwen"] {
        let attack = Attack::of_kind(kind, &script);
        let home = home_of(&attack);
        plant(&home, &paths, "the user's own\n");
        // One that is missing must not be made either.
        std::fs::remove_file(home.join(".claude/settings.json")).expect("a file");
        let before = fingerprint(&home);
        attack.run();
        assert_eq!(read(&attack, "work.txt"), "work\n", "{kind}: it ran");
        assert_eq!(fingerprint(&home), before, "{kind}");
        attack.assert_unharmed();
        assert_eq!(fingerprint(&home), before, "{kind}, after the task was cancelled");
    }
}

#[test]
fn no_secret_of_the_home_can_be_read() {
    if !has_sandbox() {
        return;
    }
    let script = r#"
        real="$(dirname "$REGATTA_PROJECT")/home"
        for place in "$HOME" "$real" /root /home/*; do
            for file in PATHS; do cat "$place/$file" 2>/dev/null; done
            find "$place" -type d -name .rustup -prune -o -type f -size -8k -exec grep -a canary {} + 2>/dev/null
        done > seen.txt
        for file in "$HOME"/.*; do basename "$file"; done | sort > listed.txt
        grep -a canary /proc/*/environ /tmp/* /var/tmp/* >> seen.txt 2>/dev/null
        git config user.name > name.txt; echo work > work.txt
    "#;
    let script = script.replace("PATHS", &quoted(&SECRETS));
    let attack = Attack::new(Walls::Sandbox, &script, "");
    let home = home_of(&attack);
    plant(&home, &SECRETS, "canary");
    write_below(
        &home,
        ".gitconfig",
        "[user]\n\tname = Uma User\n\temail = uma@example.com\n[credential]\n\thelper = canary\n",
    );
    attack.run();
    assert_eq!(attack.task()["column"], "waiting_approval");
    assert_eq!(read(&attack, "seen.txt"), "");
    assert_eq!(read(&attack, "name.txt"), "Uma User\n", "who commits is known");
    let listed = read(&attack, "listed.txt");
    for name in [".ssh", ".aws", ".claude", ".codex", ".npmrc", ".cargo"] {
        assert!(!listed.lines().any(|line| line == name), "{name} in {listed}");
    }
    attack.assert_unharmed();
}

#[test]
fn checks_see_no_more_of_the_home_than_agents() {
    if !has_sandbox() {
        return;
    }
    let attack = Attack::new(Walls::Sandbox, "echo work > work.txt", "");
    let home = home_of(&attack);
    plant(&home, &SECRETS, "canary");
    let config = attack.project.path().join(".regatta/config.toml");
    let check = "[checks]\nown = \"cat ~/.ssh/id_ed25519 ~/.claude/.credentials.json; touch ~/.bashrc && echo done\"\n";
    let text = std::fs::read_to_string(&config).expect("a config") + check;
    std::fs::write(&config, text).expect("a config");
    attack.project.repo.commit("a check");
    let before = fingerprint(&home);
    attack.run();
    let tail = attack.task()["checks"][0]["tail"].as_str().expect("a tail").to_owned();
    assert!(tail.ends_with("done\n") && !tail.contains("canary"), "{tail}");
    assert_eq!(fingerprint(&home), before);
    attack.assert_unharmed();
}

fn claude_login(token: &str, minutes: i64) -> Value {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock");
    let stamp = i64::try_from(now.as_millis()).expect("a time") + minutes * 60_000;
    json!({"claudeAiOauth": {"accessToken": format!("a-{token}"), "refreshToken": format!("r-{token}"), "expiresAt": stamp},
           "mcpOAuth": {"server": {"accessToken": "canary-of-a-server"}}})
}

#[test]
fn an_agent_gets_the_login_that_is_named_and_a_renewed_one_comes_back_at_once() {
    if !has_sandbox() {
        return;
    }
    // Renewed while it runs, and the session continues until somebody outside has seen it.
    let script = r#"
        cat "$CLAUDE_CONFIG_DIR/.credentials.json" > seen.txt; cat "$HOME/.codex/auth.json" >> seen.txt 2>/dev/null
        cp renewed.json "$CLAUDE_CONFIG_DIR/.credentials.json"
        echo '{"hooks": {}, "mcpServers": {"evil": {"command": "sh"}}}' > "$CLAUDE_CONFIG_DIR/settings.json"
        cp "$CLAUDE_CONFIG_DIR/settings.json" "$CLAUDE_CONFIG_DIR/.claude.json"
        touch renewed; while [ ! -e go ]; do sleep 0.05; done; rm go renewed renewed.json; echo work > work.txt
    "#;
    let attack = Attack::with_entry(&format!("login = \"claude\"\ncommand = ['sh', '-c', '''{script}''']"));
    let home = home_of(&attack);
    plant(&home, &SECRETS, "canary");
    let own = home.join(".claude/.credentials.json");
    std::fs::write(&own, claude_login("old", 10).to_string()).expect("a login");
    write_below(&home, ".claude.json", "{\"mcpServers\": {\"mine\": {\"env\": {\"K\": \"canary\"}}}}");
    let mut before = fingerprint(&home);
    let mut renewed = claude_login("new", 20);
    renewed["hooks"] = json!({"evil": true});
    attack.project.repo.write("renewed.json", &renewed.to_string());
    attack.project.repo.commit("a renewed login");
    let running = attack.project.start(&["task", "assign", "1", "--agent", "hostile"]);
    let worktree = attack.project.path().join(".regatta/worktrees/task-1");
    regatta_testkit::wait::until("the login was renewed", || worktree.join("renewed").exists());
    regatta_testkit::wait::until("the renewed login came back while the session runs", || {
        std::fs::read_to_string(&own).is_ok_and(|text| text.contains("r-new"))
    });
    std::fs::write(worktree.join("go"), "").expect("a file");
    running.wait();
    let seen = read(&attack, "seen.txt");
    assert!(seen.contains("r-old") && !seen.contains("canary"), "{seen}");
    let login: Value = serde_json::from_str(&std::fs::read_to_string(&own).expect("a login")).expect("JSON");
    assert_eq!(login["claudeAiOauth"]["refreshToken"], "r-new");
    assert_eq!(login["mcpOAuth"]["server"]["accessToken"], "canary-of-a-server", "what is no login stays");
    assert_eq!(login.get("hooks"), None);
    let mut after = fingerprint(&home);
    before.remove(Path::new(".claude/.credentials.json"));
    after.remove(Path::new(".claude/.credentials.json"));
    assert_eq!(before, after, "nothing else comes back");
    let homes = attack.project.path().join(".git/regatta/homes/task-1-hostile");
    assert!(homes.is_dir() && !homes.join(".claude/.credentials.json").exists(), "no copy of a login stays");
    attack.assert_unharmed();
}

#[test]
fn what_an_agent_plants_in_its_home_is_gone_in_its_next_session() {
    if !has_sandbox() {
        return;
    }
    let script = r#"
        ls -A "$HOME" | sort > listed.txt; cat "$HOME/.claude/projects/kept" > kept.txt 2>/dev/null
        mkdir -p "$HOME/.claude/projects"; echo kept > "$HOME/.claude/projects/kept"
        echo evil > "$HOME/.bashrc"; rm -rf "$HOME/.cache/x"; ln -s /etc "$HOME/.cargo"; ln -s / "$HOME/.claude/todos"
        echo "$REGATTA_SESSION_NUMBER" > work.txt
    "#;
    let attack = Attack::with_entry(&format!("login = \"claude\"\ncommand = ['sh', '-c', '''{script}''']"));
    attack.run();
    let first = read(&attack, "listed.txt");
    let said = attack.project.run(&["task", "reject", "1", "--reason", "again"]);
    assert_eq!(read(&attack, "work.txt"), "2\n", "{said:?}");
    assert_eq!(read(&attack, "listed.txt"), first);
    assert_eq!(read(&attack, "kept.txt"), "kept\n", "what is needed to resume is kept");
    attack.assert_unharmed();
}

#[test]
fn build_tools_share_a_cache_of_the_projects_own() {
    if !has_sandbox() {
        return;
    }
    let script = r#"
        cat "$CARGO_HOME/registry/cache/index/a.crate" > seen.txt
        echo planted > "$CARGO_HOME/registry/cache/index/a.crate"; echo mine >> "$CARGO_HOME/note"; cat "$CARGO_HOME/note" >> seen.txt
    "#;
    let attack = Attack::new(Walls::Sandbox, script, "");
    let home = home_of(&attack);
    write_below(&home, ".cargo/registry/cache/index/a.crate", "of the user\n");
    write_below(&home, ".cargo/credentials.toml", "canary");
    attack.project.repo.write("Cargo.toml", "");
    attack.project.repo.commit("a crate");
    let before = fingerprint(&home);
    attack.run();
    assert_eq!(read(&attack, "seen.txt"), "of the user\nmine\n");
    assert_eq!(fingerprint(&home), before);
    attack.project.run(&["task", "reject", "1", "--reason", "again"]);
    assert_eq!(read(&attack, "seen.txt"), "planted\nmine\nmine\n", "the next session has the same cache");
    assert_eq!(fingerprint(&home), before);
    attack.assert_unharmed();
}

#[test]
fn the_config_can_show_more_and_the_path_is_seen() {
    if !has_sandbox() {
        return;
    }
    let script = r#"
        cat ~/data/file > seen.txt; (echo more >> ~/data/file) 2>/dev/null || echo refused >> seen.txt
        echo more >> ~/out/file; own-tool >> seen.txt; cat ~/.cargo/credentials.toml >> seen.txt 2>/dev/null; echo end >> seen.txt
    "#;
    let mut attack = Attack::with_entry(&format!("command = ['sh', '-c', '''{script}''']"));
    let home = home_of(&attack);
    write_below(&home, "data/file", "given\n");
    write_below(&home, "out/file", "mine\n");
    write_below(&home, ".cargo/credentials.toml", "canary");
    std::fs::create_dir_all(home.join(".cargo/bin")).expect("a folder");
    std::fs::create_dir_all(home.join("tools/node_modules/own/bin")).expect("a folder");
    let program = home.join("tools/node_modules/own/bin/own.sh");
    regatta_testkit::repo::write_program(&program, ". \"$(dirname \"$(readlink -f \"$0\")\")/../library\"");
    write_below(&home, "tools/node_modules/own/library", "echo from the tool\n");
    std::os::unix::fs::symlink("../../tools/node_modules/own/bin/own.sh", home.join(".cargo/bin/own-tool"))
        .expect("a link");
    let path = format!("{}:{}", home.join(".cargo/bin").display(), std::env::var("PATH").expect("a PATH"));
    attack.project.set("PATH", &path);
    let config = attack.project.path().join(".regatta/config.toml");
    let text = std::fs::read_to_string(&config).expect("a config");
    let text = text.replace("[sandbox]\n", "[sandbox]\nreadable = [\"~/data\"]\nwritable = [\"~/out\"]\n");
    std::fs::write(&config, text).expect("a config");
    attack.project.repo.commit("more to see");
    attack.run();
    assert_eq!(read(&attack, "seen.txt"), "given\nrefused\nfrom the tool\nend\n");
    assert_eq!(std::fs::read_to_string(home.join("out/file")).expect("a file"), "mine\nmore\n");
    assert_eq!(std::fs::read_to_string(home.join("data/file")).expect("a file"), "given\n");
    attack.assert_unharmed();
}
