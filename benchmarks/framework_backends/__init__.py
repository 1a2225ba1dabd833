"""The adapters beside the backends that agent frameworks bring, each in the framework's own way."""
