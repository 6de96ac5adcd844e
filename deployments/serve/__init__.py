"""Everything that knows Ray: starting it, the deployments, their handles, placement and scaling."""
