"""How bytes of any kind become text, a preview or an answer; knows nothing of runs, tools and models."""
