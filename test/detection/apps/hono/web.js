import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const app = new Hono()
app.get('/', (c) => c.text('Hello, world'))
const server = serve({ fetch: app.fetch, port: Number(process.env.PORT) })
process.once('SIGTERM', () => server.close())
