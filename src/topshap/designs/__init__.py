"""Which coalitions to look at: spread over sizes before anything is known, and where it matters most afterwards."""
