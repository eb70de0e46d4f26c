"""Connections to a server: its address, HTTP/1.1, pools of connections, and when to repeat a request."""
