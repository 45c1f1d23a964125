"""The text of documents, with one module for each format. Only the helper process imports these modules."""
