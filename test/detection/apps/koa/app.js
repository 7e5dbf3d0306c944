const Koa = require('koa')

const app = new Koa()
app.use((context) => {
  context.body = 'Hello, world'
})
app.listen(process.env.PORT)
