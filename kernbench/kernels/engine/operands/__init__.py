"""Rows as engines take them: checked, lifted, centred, scaled, and stored for one kernel and precision."""
