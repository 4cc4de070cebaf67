#!/bin/sh
# Node source: the hosts of the rack in $1.
for number in 1 2 3; do
  echo "$1-$number"
done
