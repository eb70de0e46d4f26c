"""The version of torqued to which this package belongs.

Made by api/clients/python/generate.py from the Makefile: change that, then `make reference`.
"""
VERSION = "0.1.0"
