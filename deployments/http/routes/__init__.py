"""The routes of the HTTP face, one group a file; `deployments.http.app` puts them together."""
