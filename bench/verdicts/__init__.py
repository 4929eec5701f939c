"""How often the checks are right on recorded studies, and on simulated ones like these."""
