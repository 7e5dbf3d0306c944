package greet

// Page greets somebody.
func Page(whom string) string { return "Hello, " + whom }
