<p>Hello, world</p>
