#!/bin/bash
# Runs once, when the data folder is made: the service's own role, without more rights than its database.
set -euo pipefail
psql -v ON_ERROR_STOP=1 -U postgres -d postgres -v password="$FESTABOOK_DATABASE_PASSWORD" <<'SQL'
CREATE ROLE festabook LOGIN PASSWORD :'password';
CREATE DATABASE festabook OWNER festabook;
SQL
