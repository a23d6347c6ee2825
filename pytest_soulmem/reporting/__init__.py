"""What a run found, for people and machines."""
