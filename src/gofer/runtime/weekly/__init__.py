"""The weekly report: what the runs of an owner's workflows did, and what nobody uses any more."""
