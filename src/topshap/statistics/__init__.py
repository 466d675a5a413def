"""What the answers say: running moments, pairwise differences, the standing of a race, confidence bounds."""
