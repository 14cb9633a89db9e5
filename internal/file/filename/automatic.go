package filename

import (
	"slices"
	"strings"
)

// automatic are names of files and directories that programs look for by themselves, in the current
// directory, in those above it or in the home directory, and that change what the programs do: most
// of them can hold commands. The files with which web servers are configured, such as .htaccess, are
// not among them, because they are what a site consists of.
var automatic = slices.Concat(
	// Version control: prompts of shells and editors call it, and its configuration has commands.
	strings.Fields(".git .hg .svn .bzr .jj .sl"),
	// What shells load when their user enters a directory.
	strings.Fields(".envrc .env .direnv .autoenv .mise .mise.toml mise.toml .tool-versions .venv"),
	// Editors: settings, tasks and scripts of a directory.
	strings.Fields(`.vscode .vs .idea .fleet .zed .devcontainer .devcontainer.json .vim .vimrc .gvimrc .exrc _vimrc _gvimrc
		_exrc .nvimrc .nvim.lua .lvimrc .emacs .emacs.d .dir-locals.el .dir-locals-2.el .clangd`),
	// Interpreters, debuggers and tools that build.
	strings.Fields(`.npmrc .yarnrc .yarnrc.yml .yarn .pnpmfile.cjs .pnp.cjs .pnp.loader.mjs bunfig.toml .bundle .irbrc .pryrc
		.rdbgrc .pdbrc .pypirc .cargo .mvn .Rprofile .Renviron .RData .octaverc .ghci .proverc .ackrc .ctags .ctags.d
		.gdbinit .gdbearlyinit .lldbinit .bazelrc .terraformrc .sqliterc .psqlrc .latexmkrc latexmkrc`),
	// Sessions: shells, terminals and desktops.
	strings.Fields(`.profile .login .logout .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_completion
		.zshrc .zshenv .zprofile .zlogin .zlogout .cshrc .tcshrc .kshrc .mkshrc .shrc .inputrc .pam_environment .environment
		.xinitrc .xserverrc .xsession .xsessionrc .xprofile .Xresources .Xdefaults .Xauthority .config .local .screenrc
		.tmux.conf .lesskey .lessfilter`),
	// Logins, mail, and clients of networks.
	strings.Fields(`.ssh .gnupg .rhosts .shosts .k5login .netrc _netrc .wgetrc .curlrc _curlrc .lftprc .lftp .gitconfig .hgrc
		.subversion .forward .procmailrc .mailfilter .maildroprc .qmail .mailrc .muttrc .mutt .msmtprc .pgpass .my.cnf .aws
		.azure .kube .docker .mozilla`),
	// File managers, and disks that are inserted.
	strings.Fields(".directory desktop.ini folder.htt autorun.inf .autorun autorun.sh"),
)

// isAutomatic reports whether programs look for a file of this name by themselves. Many file systems
// ignore case, and HFS+ also these invisible characters: ".g\u200Cit" is ".git" there.
func isAutomatic(name string) bool {
	name = visible(name)
	return slices.ContainsFunc(automatic, func(known string) bool { return strings.EqualFold(known, name) })
}

// visible returns a name without the characters that HFS+ ignores.
func visible(name string) string {
	return strings.Map(func(r rune) rune {
		if 0x200C <= r && r <= 0x200F || 0x202A <= r && r <= 0x202E || 0x206A <= r && r <= 0x206F || r == 0xFEFF {
			return -1
		}
		return r
	}, name)
}
