#!/bin/sh
# bad_data_test.sh PROGRAM DATA DIRECTORY: a bad data file ends the program with exit code 1 and one line that says file, line,
# what was found and what to do.
program=$1 data=$2 directory=$3
mkdir -p "$directory" || exit 2
failed=0

expect() {  # expect FILE TEXT...: every TEXT is in what the program says about FILE
  file=$1
  shift
  said=$("$program" "$file" "$directory/unused.ppm" 2>&1)
  code=$?
  if [ $code -ne 1 ]; then
    echo "$file: exit code $code, not 1"
    failed=1
  fi
  for text in "$file" "examples/data/digits.csv\|first argument" "$@"; do
    if ! printf '%s' "$said" | grep -q -- "$text"; then
      echo "$file: expected \"$text\" in: $said"
      failed=1
    fi
  done
  echo "$said"
}

head -n 900 "$data" > "$directory/whole_lines.csv"
expect "$directory/whole_lines.csv" "whole_lines.csv:901:" "ends after 900 of 1797 digits" "TT-F01"

head -c 150001 "$data" > "$directory/cut.csv"
expect "$directory/cut.csv" "cut.csv:10[0-9][0-9]:" "ends after [0-9]* of 65 numbers" "TT-F01"

sed '7s/^0,/0,dog,/' "$data" > "$directory/word.csv"
expect "$directory/word.csv" 'word.csv:7: number 2 reads "dog"'

sed '8s/^0,/17,/' "$data" > "$directory/bright.csv"
expect "$directory/bright.csv" "bright.csv:8: number 1 is 17, outside 0 to 16"

sed '9s/$/,3/' "$data" > "$directory/long.csv"
expect "$directory/long.csv" 'long.csv:9: has ",3" after number 65'

sed '3s/^0,0,/0 0,/' "$data" > "$directory/blank.csv"
expect "$directory/blank.csv" 'blank.csv:3: has " 0' "after number 1"

cat "$data" "$data" > "$directory/twice.csv"
expect "$directory/twice.csv" "twice.csv:1798: is one more than the 1797 digits"

: > "$directory/empty.csv"
expect "$directory/empty.csv" "empty.csv:1: the file ends after 0 of 1797 digits"

rm -f "$directory/missing.csv"
expect "$directory/missing.csv" "cannot open" "No such file" "TT-O01"

expect "$directory" "TT-O0"  # a directory

exit $failed
