"""Several machines on one: network namespaces, Ray on them, a service and its clients, and faults."""
