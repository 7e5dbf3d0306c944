pub const GREETING: &str = "Hello, world";
