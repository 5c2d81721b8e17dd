"""What users pass to public calls, checked: keywords, numbers, states, parameters and paths."""
