"""The routes of the API: a module for each subject, listed in `functions.api.route_index`."""

OPENWOP_PREFIX = "/v1/"
