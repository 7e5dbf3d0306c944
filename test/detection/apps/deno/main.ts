import { Hono } from 'hono'

const app = new Hono()
app.get('/', (c) => c.text('Hello, world'))
Deno.serve({ port: Number(Deno.env.get('PORT')) }, app.fetch)
