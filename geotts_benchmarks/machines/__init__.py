"""Several machines on one: network namespaces, Ray on them, a service deployed there, and its clients."""
