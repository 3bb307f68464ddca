"""ripgrep's file types that agents use: name -> globs."""
from __future__ import annotations

TYPES: dict[str, tuple[str, ...]] = {
    "asm": ("*.S", "*.asm", "*.s"), "awk": ("*.awk",), "bat": ("*.bat",), "bazel": ("*.bazel", "*.bzl", "BUILD"),
    "c": ("*.[chH]", "*.[chH].in", "*.cats"), "clojure": ("*.clj", "*.cljc", "*.cljs", "*.cljx"),
    "cmake": ("*.cmake", "CMakeLists.txt"), "config": ("*.cfg", "*.conf", "*.config", "*.ini"),
    "cpp": ("*.[ChH]", "*.cc", "*.[ch]pp", "*.[ch]xx", "*.hh", "*.inl", "*.[ChH].in", "*.cc.in", "*.[ch]pp.in"),
    "cs": ("*.cs",), "csharp": ("*.cs",), "css": ("*.css", "*.scss"), "csv": ("*.csv",), "dart": ("*.dart",),
    "diff": ("*.patch", "*.diff"), "docker": ("*Dockerfile*",), "elixir": ("*.ex", "*.eex", "*.exs", "*.heex"),
    "erlang": ("*.erl", "*.hrl"), "fish": ("*.fish",), "fsharp": ("*.fs", "*.fsi", "*.fsx"), "go": ("*.go",),
    "gradle": ("*.gradle", "*.gradle.kts", "gradle.properties", "gradlew", "gradlew.bat"),
    "graphql": ("*.graphql", "*.graphqls"), "groovy": ("*.gradle", "*.groovy"), "h": ("*.h", "*.hh", "*.hpp"),
    "haskell": ("*.c2hs", "*.cpphs", "*.hs", "*.hsc", "*.lhs"), "html": ("*.ejs", "*.htm", "*.html"),
    "java": ("*.java", "*.jsp", "*.jspx", "*.properties"), "jinja": ("*.j2", "*.jinja", "*.jinja2"),
    "js": ("*.cjs", "*.js", "*.jsx", "*.mjs", "*.vue"), "json": ("*.json", "*.sarif", "composer.lock"),
    "jsonl": ("*.jsonl",), "julia": ("*.jl",), "kotlin": ("*.kt", "*.kts"), "less": ("*.less",),
    "license": ("COPYING*", "LICENSE*", "LICENCE*", "NOTICE*"),
    "lisp": ("*.el", "*.jl", "*.lisp", "*.lsp", "*.sc", "*.scm"),
    "lock": ("*.lock", "package-lock.json"), "log": ("*.log",), "lua": ("*.lua",),
    "make": ("*.mak", "*.mk", "[Gg][Nn][Uu]makefile", "[Mm]akefile", "[Mm]akefile.*"),
    "markdown": ("*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"),
    "md": ("*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"), "nix": ("*.nix",),
    "objc": ("*.h", "*.m"), "ocaml": ("*.ml", "*.mli", "*.mll", "*.mly"), "org": ("*.org",), "pdf": ("*.pdf",),
    "perl": ("*.PL", "*.perl", "*.pl", "*.plh", "*.plx", "*.pm", "*.t"),
    "php": ("*.php", "*.php3", "*.php4", "*.phtml"),
    "protobuf": ("*.proto",), "ps": ("*.cdxml", "*.ps1", "*.ps1xml", "*.psd1", "*.psm1"), "py": ("*.py", "*.pyi"),
    "python": ("*.py", "*.pyi"), "r": ("*.R", "*.Rmd", "*.Rnw", "*.r"), "rst": ("*.rst",), "ruby": (
        "*.gemspec", "*.rb", "*.rbw", ".irbrc", "Gemfile", "Rakefile", "config.ru"), "rust": ("*.rs",),
    "sass": ("*.sass", "*.scss"), "scala": ("*.sbt", "*.scala"), "sh": (
        "*.bash", "*.csh", "*.fish", "*.ksh", "*.sh", "*.tcsh", "*.zsh", ".bashrc", ".profile", ".zshrc"),
    "sql": ("*.psql", "*.sql"), "svelte": ("*.svelte", "*.svelte.ts"), "svg": ("*.svg",), "swift": ("*.swift",),
    "tcl": ("*.tcl",), "terraform": ("*.terraform.lock.hcl", "*.tf", "*.tf.json", "*.tfvars"), "tex": (
        "*.bib", "*.cls", "*.dtx", "*.ins", "*.ltx", "*.sty", "*.tex"), "tf": ("*.tf", "*.tf.json", "*.tfvars"),
    "toml": ("*.toml", "Cargo.lock"), "ts": ("*.cts", "*.mts", "*.ts", "*.tsx"), "txt": ("*.txt",),
    "typescript": ("*.cts", "*.mts", "*.ts", "*.tsx"), "vim": ("*.vim", ".vimrc", "vimrc"), "vue": ("*.vue",),
    "xml": ("*.dtd", "*.rng", "*.sch", "*.xhtml", "*.xjb", "*.xml", "*.xml.dist", "*.xsd", "*.xsl", "*.xslt"),
    "yaml": ("*.yaml", "*.yml"), "zig": ("*.zig",), "zsh": ("*.zsh", ".zshenv", ".zshrc"),
}
