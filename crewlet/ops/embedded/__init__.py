"""The servers that pip installed: Postgres and Valkey on unix sockets. Imports no Django."""
