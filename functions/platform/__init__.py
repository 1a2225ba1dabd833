"""What all packages use: table access, item types, keys, limits, settings, encryption, retries."""
