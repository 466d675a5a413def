"""The parts of the site that are made from published reports and from a recorded run."""
