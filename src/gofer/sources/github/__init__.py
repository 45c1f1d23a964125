"""The source GitHub: receives deliveries, reads pull requests, issues and files, writes comments and issues."""
