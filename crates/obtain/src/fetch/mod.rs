//! Fetches archives through the user's own clients.
