"""Numbers and rows as users give them: checked, or refused with a sentence that says what to do."""
