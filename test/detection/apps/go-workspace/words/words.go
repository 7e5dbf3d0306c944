package words

const Greeting = "Hello, world"
