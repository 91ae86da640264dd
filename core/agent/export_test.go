package agent

// Arguments is arguments, for tests.
var Arguments = arguments
