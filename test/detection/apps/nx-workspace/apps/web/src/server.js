import { createServer } from 'node:http'
import { greet } from '@acme/greeting'
import isNumber from 'is-number'

const answer = isNumber(1) && greet()
const server = createServer((_, response) => response.end(answer))
server.listen(process.env.PORT, '0.0.0.0')
process.on('SIGTERM', () => process.exit(0))
