"""The formats in which models are asked: what each sends, what it reads, its failures and its usage."""
