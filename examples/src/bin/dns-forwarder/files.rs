//! Every port is an open file, and there are many.

/// Allows this process as many open files as it may allow itself. Many systems begin with 1024, fewer than four servers
/// with 256 ports each take.
pub(crate) fn allow_many() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        // Where that is not allowed, what is there must do; binding the ports tells if it does not.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}
