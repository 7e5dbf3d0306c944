import Fastify from 'fastify'

const app = Fastify()
app.get('/', () => 'Hello, world')
await app.listen({ host: '0.0.0.0', port: Number(process.env.PORT) })
