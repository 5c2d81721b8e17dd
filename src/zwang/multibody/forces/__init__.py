"""Forces on bodies and between them."""
