"""Can the round be trusted? One question of the playbook's checklist per file."""
