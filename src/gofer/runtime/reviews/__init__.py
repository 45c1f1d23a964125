"""Reviews: a model reads each run that another model decided, and says whether the run did what it was asked for."""
