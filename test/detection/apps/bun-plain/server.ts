Bun.serve({ port: process.env.PORT, fetch: () => new Response('Hello, world') })
