words = 1
