// Package imports checks who imports whom. It has tests only: three tables of
// rules that hold for the whole repository, and the rule that every package
// says what it is for.
package imports
