#!/bin/sh
# Node source: the racks of the data centre. The argument is the parent, here the instance; every line is a child.
echo north
echo south
