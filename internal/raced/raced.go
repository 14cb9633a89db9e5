// Package raced says whether the program was built with the race detector, with which some tests take
// ten times as long and do less. For tests only.
package raced
