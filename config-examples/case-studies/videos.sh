#!/bin/sh
# Node source: the videos of the volume in $1.
for i in 1 2 3; do
  echo "$1-video$i"
done
