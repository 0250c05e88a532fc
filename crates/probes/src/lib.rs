//! What the host, the servers and the client spent: /proc, disks, sizes; the host check-up.
