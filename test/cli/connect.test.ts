import { expect, test } from 'bun:test'
import { freePort } from '../support/free-port.ts'
import { aDavit } from './connections.ts'

const component = (text: string, port: number) => `
    image: busybox
    command: [sh, -c, 'mkdir /www && echo ${text} > /www/index.html && exec httpd -f -p ${port} -h /www']
    stop_grace_period: 1s`

const compose = (text: string) => `
services:
  front:${component('front', 8081)}
  back:${component(text, 8082)}
    expose: ["8082"]
`

const answerOf = async (address: string) =>
  (await fetch(`http://${address}`, { keepalive: false })).text()

test('a local port leads to a service that publishes none, also to its next containers', async () => {
  const t = await aDavit()
  const ada = await t.register('ada@example.com')
  const service = await t.make(ada, '/services/compose', { name: 'site', compose: compose('back') })
  expect(service).toMatchObject({ status: 'running', url: null, ports: [] })

  const back = t.connect(['site'])
  const said = await back.open()
  expect(said).toBe(`site (back, port 8082) is at ${back.address()} until Ctrl-C.\n`)
  expect(await answerOf(back.address())).toBe('back\n')
  const port = String(freePort())
  const front = t.connect([service.id, '--target', 'front:8081', '--port', port])
  await front.open()
  expect(front.address()).toBe(`127.0.0.1:${port}`)
  expect(await answerOf(front.address())).toBe('front\n')
  expect(await t.connect(['site', '--port', port]).ended()).toEqual({
    status: 1,
    stdout: '',
    stderr: `davit: Port ${port} of 127.0.0.1 is in use. Choose another one, or leave --port out.\n`,
  })
  // a connection that the service cuts off is no failure of the command
  await fetch(`http://${back.address()}`, { method: 'POST', body: 'x'.repeat(5e6) }).catch(() => {})
  const beside = t.connect(['site'])
  await beside.open()
  expect(beside.address()).not.toBe(back.address())

  await ada.put(`/services/${service.id}`, { compose: compose('changed') })
  await t.settle(ada, service.id)
  expect(await answerOf(back.address())).toBe('changed\n')

  await ada.post(`/services/${service.id}/stop`)
  await t.settle(ada, service.id)
  await expect(answerOf(back.address())).rejects.toThrow()
  const stopped = 'davit: The service site isn’t running. Start it first.\n'
  expect(await back.ended('SIGINT')).toEqual({ status: 0, stdout: said, stderr: stopped })
  expect(await t.connect(['site']).ended()).toEqual({ status: 1, stdout: '', stderr: stopped })
})

test('a service that can’t be meant is refused with those that can', async () => {
  const t = await aDavit()
  const none = 'There is no service site. There are no services yet.'
  expect((await t.connect(['site']).ended()).stderr).toBe(`davit: ${none}\n`)
  const clients = [await t.register('ada@example.com'), await t.register('bob@example.com')]
  const fields = { name: 'site', compose: compose('back') }
  await Promise.all(clients.map((client) => t.make(client, '/services/compose', fields)))

  const own = ['site', '--owner', 'ada@example.com']
  const cases: [number, string[], string][] = [
    [
      1,
      ['sit'],
      'There is no service sit. Services: site (ada@example.com), site (bob@example.com).',
    ],
    [
      1,
      ['site'],
      '2 services are named site. Add --owner with one of: ada@example.com, bob@example.com.',
    ],
    [1, ['site', '--owner', 'eve@example.com'], 'There is no service site of eve@example.com.'],
    [
      1,
      [...own, '--target', 'side:80'],
      'The service site has no running component side. Components: back, front.',
    ],
    [1, [...own, '--target', 'back:81'], 'Nothing listens on port 81 there.'],
    [2, [...own, '--target', 'back'], '--target must look like db:5432, not “back”.'],
    [2, [...own, '--target', 'back:0'], 'the port of --target must be a port from 1 to 65535'],
    [2, [...own, '--port', '70000'], '--port must be a port from 1 to 65535, not “70000”.'],
    [2, [...own, '--prot', '1'], 'usage: davit connect SERVICE'],
  ]
  const answers = await Promise.all(cases.map(([, args]) => t.connect(args).ended()))
  for (const [i, { status, stdout, stderr }] of answers.entries()) {
    const [wanted, , words] = cases[i]!
    expect(stderr).toStartWith(`davit: ${words}`)
    expect(stderr.trim().split('\n'), stderr).toHaveLength(1)
    expect({ status, stdout }).toEqual({ status: wanted, stdout: '' })
  }

  const away = t.connect(own, { DOCKER_HOST: 'tcp://127.0.0.1:1' })
  expect((await away.ended()).stderr).toBe(
    'davit: Docker runs on another machine (DOCKER_HOST), so its containers can’t be reached from here. Run this command there.\n',
  )
})
