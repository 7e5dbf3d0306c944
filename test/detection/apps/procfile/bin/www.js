const { createServer } = require('node:http')
const isOdd = require('is-odd')

const port = process.argv[process.argv.indexOf('--port') + 1]
createServer((_, response) => response.end(isOdd(3) ? 'Hello, world' : 'no')).listen(port)
