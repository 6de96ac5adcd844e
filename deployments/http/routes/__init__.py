"""The routes of the HTTP interface, one group in each file; `deployments.http.app` adds them to the application."""
