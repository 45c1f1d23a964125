"""Tools of GitHub: read pull requests, issues, files and commits; comment, open issues, ask for reviews."""
