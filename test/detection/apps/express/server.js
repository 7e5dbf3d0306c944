import express from 'express'

const app = express()
app.get('/', (_, response) => response.send('Hello, world'))
const server = app.listen(process.env.PORT)
process.on('SIGTERM', () => server.close(() => process.exit(0)))
