import { expect, onTestFinished, test } from 'bun:test'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { testApp, withAda } from '../support/app.ts'
import { aProject } from './apps.ts'

test('a repository whose server hangs ends its deployment when the time for its build is over', async () => {
  const { t, ada } = withAda(testApp({}, { config: { buildTimeout: 500 } }))
  const sockets = new Set<Socket>()
  const server = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/silent.git`
  const silent = await aProject(t, ada, {}, { name: 'silent', url })
  expect(await silent.deploy()).toMatchObject({
    status: 'failed',
    error: { step: 'cloning', code: 'build_timeout' },
  })
})
