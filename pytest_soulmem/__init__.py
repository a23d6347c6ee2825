"""pytest-soulmem: judge an agent's long-term memory with pytest."""
