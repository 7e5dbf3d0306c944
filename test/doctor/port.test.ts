import { expect, test } from 'bun:test'
import { parseConfig } from '../../src/config.ts'
import { checkPort, holderOf } from '../../src/doctor/port.ts'
import { sandbox } from '../docker/sandbox.ts'
import { freePort } from '../support/free-port.ts'

const { docker, run, options } = sandbox()

const find = (port: number) =>
  checkPort(parseConfig({ DAVIT_DATA_DIR: '/nowhere', DAVIT_PORT: String(port) }), docker)

test('a port that is taken is reported with its program', async () => {
  using listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  expect(await find(listener.port)).toEqual([
    {
      what: 'port',
      is: expect.stringMatching(
        new RegExp(`, and \\S+ \\(process ${process.pid}\\) listens on port ${listener.port}$`),
      ),
      todo: expect.stringContaining('DAVIT_PORT'),
    },
  ])
  expect(await find(freePort())).toMatchObject([{ todo: null }])
})

test('a port of a container is reported with its name, whoever may see its process', async () => {
  const { name } = options()
  const host = freePort()
  await run('sleep 999', { name, ports: [{ container: 80, host, address: '127.0.0.1' }] })
  expect(await holderOf(docker, host)).toBe(`the container ${name}`)
  expect((await find(host))[0]!.is).toContain(`the container ${name} listens on port ${host}`)
})
