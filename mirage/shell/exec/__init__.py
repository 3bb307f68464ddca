"""The interpreter: the tree compiled to closures, commands, redirections, pipelines, jobs, traps, sessions."""
