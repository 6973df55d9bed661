"""What the shop sells."""

KINDS = ("tea", "cup", "pot")
ITEMS = [f"{KINDS[n % 3]} no. {n} of the spring catalog" for n in range(300)]


def search(word: str) -> list[str]:
    """Find the items with this word in their names."""
    return [item for item in ITEMS if word in item]
