//! Sliding windows.
