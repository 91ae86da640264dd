// Package imports checks who imports whom. It has tests only: three tables of
// rules that hold for the whole repository, and the rule that every package
// says what it is for and what it imports. It imports nothing of what it looks
// at.
package imports
