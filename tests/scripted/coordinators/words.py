def counted(text: str) -> str:
    return f"{len(text.split())} words"
