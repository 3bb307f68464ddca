"""The shell: parser, expansion, interpreter, builtins."""
