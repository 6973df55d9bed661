"""What GitHub says of a job, and what is said to GitHub."""
