"""The state of the company as screens show it. The server's word is the only one."""
