x = 1
def (
