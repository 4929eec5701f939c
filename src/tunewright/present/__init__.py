"""What a round asked, what it found and what not to trust: as a page and on a screen."""
