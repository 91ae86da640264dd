#!/bin/sh
# Lists the subjects of the commits since the last tag, or of all without one.
last=$(git describe --tags --abbrev=0 2>/dev/null)
git log --format='- %s' ${last:+"$last.."} HEAD
