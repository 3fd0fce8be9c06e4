"""A server for coding assistants (Model Context Protocol): verbs as tools, in folders that are named at its start."""
