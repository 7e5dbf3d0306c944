import { Hono } from 'hono'

const app = new Hono()
app.get('/', (c) => c.html('<!doctype html><title>hello</title><h1>hello</h1>'))
app.get('/health/ready', (c) => c.json({ status: 'ready' }))

const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: app.fetch })
process.stdout.write(`Davit 0 listens on ${server.url.origin}\n`)
